#include "report/csv_file.hpp"

#include <fmt/format.h>

#include <fstream>
#include <iterator>
#include <system_error>

#include "report/csv.hpp"
#include "report/whole_file.hpp"

namespace headroom::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view csv_mark = "\n<!-- results.csv";

std::string readme_of(const fs::path& folder) {
  std::ifstream in(folder / "README.md", std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace

std::string csv_file_name(CsvFile form) {
  if (form == CsvFile::none) return {};
  return form == CsvFile::gz ? "results.csv.gz" : "results.csv";
}

void write_csv_file(const fs::path& folder, CsvFile form, const Database& database,
                    std::int64_t run) {
  const std::string name = csv_file_name(form);
  if (form == CsvFile::plain)
    write_whole(folder / name, [&](std::ostream& out) { write_csv(out, database, run); });
  if (form == CsvFile::gz)
    write_whole(folder / name, [&](std::ostream& out) { write_csv_gz(out, database, run); });
  for (const CsvFile other : {CsvFile::plain, CsvFile::gz})
    if (other != form) {
      std::error_code error;
      fs::remove(folder / csv_file_name(other), error);
      if (error)
        throw StoreError(fmt::format("{}: cannot be removed ({})",
                                     (folder / csv_file_name(other)).string(), error.message()));
    }
}

std::string csv_line(const fs::path& folder, CsvFile form, std::string_view fingerprint) {
  if (form == CsvFile::none) return fmt::format("{}: none of {} -->\n", csv_mark, fingerprint);
  std::error_code error;
  return fmt::format("{}{}: {} bytes of {} -->\n", csv_mark, form == CsvFile::gz ? ".gz" : "",
                     fs::file_size(folder / csv_file_name(form), error), fingerprint);
}

bool has_report(const fs::path& folder) {
  return readme_of(folder).find(csv_mark) != std::string::npos;
}

bool csv_is_of(const fs::path& folder, CsvFile form, std::string_view fingerprint) {
  if (form == CsvFile::none) return false;
  std::error_code error;
  const auto csv = fs::last_write_time(folder / csv_file_name(form), error);
  if (error) return false;
  const auto page = fs::last_write_time(folder / "README.md", error);
  if (error || csv > page) return false;
  return readme_of(folder).ends_with(csv_line(folder, form, fingerprint));
}

}  // namespace headroom::report
