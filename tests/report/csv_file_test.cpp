// The file of every point in a run's folder, in each of its forms.
#include "report/csv_file.hpp"

#include <gtest/gtest.h>

#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <iterator>

#include "fixture.hpp"
#include "hardware/text_file.hpp"
#include "report/reports.hpp"

namespace headroom::report {
namespace {

namespace io = boost::iostreams;

template <class Decompressor>
std::string unpacked(const std::string& packed, const Decompressor& decompressor) {
  io::filtering_istream in;
  in.push(decompressor);
  in.push(io::array_source(packed.data(), packed.size()));
  return {std::istreambuf_iterator<char>(in), {}};
}

TEST(CsvFile, EveryPointIsInOneFileOrInTheDatabaseAlone) {
  Folder folder;
  write_all(folder / "r.sqlite", small_run());
  const Database database(folder / "r.sqlite");
  const auto out = folder / "out";
  const auto readme = [&](CsvFile form, Csv csv = Csv::write) {
    write_reports(database, 1, out, Figures::skip, form, csv);
    return read_text_file(out / "README.md");
  };
  const auto has = [&](const char* file) { return std::filesystem::exists(out / file); };
  EXPECT_NE(readme(CsvFile::plain).find("(results.csv)"), std::string::npos);
  const std::string plain = read_text_file(out / "results.csv");
  for (const Csv csv : {Csv::write, Csv::keep}) {
    EXPECT_NE(readme(CsvFile::gz, csv).find("(results.csv.gz)"), std::string::npos);
    EXPECT_TRUE(has("results.csv.gz") && !has("results.csv"));
  }
  EXPECT_EQ(unpacked(read_text_file(out / "results.csv.gz"), io::gzip_decompressor()), plain);
  EXPECT_LT(read_text_file(out / "results.csv.gz").size(), plain.size());
  EXPECT_NE(readme(CsvFile::zst).find("(results.csv.zst)"), std::string::npos);
  EXPECT_TRUE(has("results.csv.zst") && !has("results.csv.gz"));
  EXPECT_EQ(unpacked(read_text_file(out / "results.csv.zst"), io::zstd_decompressor()), plain);
  EXPECT_EQ(readme(CsvFile::none).find("(results.csv"), std::string::npos);
  EXPECT_FALSE(has("results.csv.gz") || has("results.csv.zst") || has("results.csv"));
  EXPECT_NE(read_text_file(out / "index.html").find("r.sqlite has every point"), std::string::npos);
  EXPECT_NE(readme(CsvFile::plain, Csv::keep).find("(results.csv)"), std::string::npos);
  EXPECT_EQ(read_text_file(out / "results.csv"), plain);
}

}  // namespace
}  // namespace headroom::report
