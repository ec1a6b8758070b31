#include "report/csv_file.hpp"

#include <fmt/format.h>

#include <system_error>

#include "report/csv.hpp"
#include "report/whole_file.hpp"

namespace headroom::report {

namespace fs = std::filesystem;

std::string csv_file_name(CsvFile form) {
  switch (form) {
    case CsvFile::plain:
      return "results.csv";
    case CsvFile::gz:
      return "results.csv.gz";
    case CsvFile::zst:
      return "results.csv.zst";
    case CsvFile::none:
      break;
  }
  return {};
}

void write_csv_file(const fs::path& folder, CsvFile form, const Database& database,
                    std::int64_t run) {
  const std::string name = csv_file_name(form);
  if (form == CsvFile::plain)
    write_whole(folder / name, [&](std::ostream& out) { write_csv(out, database, run); });
  else if (form != CsvFile::none)
    write_whole(folder / name, [&](std::ostream& out) {
      write_compressed_csv(out, database, run,
                           form == CsvFile::gz ? Compression::gzip : Compression::zstd);
    });
  for (const CsvFile other : {CsvFile::plain, CsvFile::gz, CsvFile::zst})
    if (other != form) {
      std::error_code error;
      fs::remove(folder / csv_file_name(other), error);
      if (error)
        throw StoreError(fmt::format("{}: cannot be removed ({})",
                                     (folder / csv_file_name(other)).string(), error.message()));
    }
}

}  // namespace headroom::report
