#include "sweep/run/database_operand.hpp"

#include <fmt/format.h>

#include <fstream>

#include "report/store.hpp"

namespace headroom::sweep {

namespace fs = std::filesystem;

bool is_database(const fs::path& file) {
  constexpr std::string_view magic = "SQLite format 3";  // sqlite.org/fileformat.html, section 1.3
  std::string start(magic.size(), '\0');
  std::ifstream(file, std::ios::binary)
      .read(start.data(), static_cast<std::streamsize>(start.size()));
  return start == magic;
}

fs::path database_file(const std::string& given) {
  std::error_code error;
  const fs::path file =
      fs::is_directory(given, error) ? fs::path(given) / "results.sqlite" : fs::path(given);
  if (fs::is_regular_file(file, error) && !is_database(file))
    throw report::StoreError(
        fmt::format("{}: is not an sqlite database; expected the results.sqlite that `headroom "
                    "sweep` writes, or "
                    "its folder",
                    file.string()));
  return file;
}

fs::path database_operand(const Options& options) {
  if (options.operands().size() != 1)
    throw UsageError("one database or folder with results.sqlite is needed: out/nightly");
  return database_file(options.operands().front());
}

}  // namespace headroom::sweep
