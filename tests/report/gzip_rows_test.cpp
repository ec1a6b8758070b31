// Compressed rows are the rows again for any reader of gzip.
#include "report/gzip_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace headroom::report {
namespace {

std::string unzipped(const std::string& packed) {
  namespace io = boost::iostreams;
  io::filtering_istream in;
  in.push(io::gzip_decompressor());
  in.push(io::array_source(packed.data(), packed.size()));
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void expect_same(const std::string& text) { EXPECT_EQ(unzipped(gzip_rows(text)), text); }

TEST(GzipRows, AnyTextComesBack) {
  for (const char* text : {"", "a", ",", "\n", "\n\n\n", "a,b\r\n", "a,b\r\na,b\r\n", "no end"})
    expect_same(text);
  std::string bytes;
  for (int i = 0; i < 2048; ++i) bytes += static_cast<char>(i % 256);
  expect_same(bytes);
}

TEST(GzipRows, RepetitionsOfEachLengthComeBack) {
  for (int length = 0; length < 800; ++length) {
    const std::string field(static_cast<std::size_t>(length), 'x');
    expect_same("1," + field + ",2\n3," + field + ",4\n" + field + "\n" + field + "\n");
  }
}

TEST(GzipRows, RowsTooLongToRepeatComeBack) {
  for (const std::size_t length : {32'766, 32'767, 32'768, 40'000}) {
    const std::string row = std::string(length, 'x') + '\n';
    expect_same(row + row + row);
  }
}

TEST(GzipRows, SkewedCountsComeBack) {
  // Each byte occurs nearly twice as often as the one before: an unlimited code would be too long.
  std::string text;
  for (int i = 0; i < 19; ++i) text += std::string(std::size_t{1} << i, static_cast<char>('a' + i));
  std::ranges::shuffle(text, std::mt19937(1));
  expect_same(text);
}

TEST(GzipRows, RandomRowsComeBackSmaller) {
  std::mt19937 random(7);
  const auto under = [&](int end) {
    return static_cast<int>(random() % static_cast<unsigned>(end));
  };
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> fields(static_cast<std::size_t>(1 + under(30)), "the same text");
    std::string text;
    for (int row = 0; row < 100; ++row) {
      for (int changes = under(4); changes > 0; --changes)
        fields[random() % fields.size()] = std::to_string(random()).substr(0, random() % 10);
      for (const std::string& field : fields) text += field + (under(50) > 0 ? "," : "\",\"");
      text += "\r\n";
    }
    const std::string packed = gzip_rows(text);
    EXPECT_EQ(unzipped(packed), text);
    EXPECT_LT(packed.size(), text.size());
  }
}

}  // namespace
}  // namespace headroom::report
