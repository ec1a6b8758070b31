#include "sweep/database_operand.hpp"

namespace headroom::sweep {

namespace fs = std::filesystem;

fs::path database_file(const std::string& given) {
  std::error_code error;
  return fs::is_directory(given, error) ? fs::path(given) / "results.sqlite" : fs::path(given);
}

fs::path database_operand(const Options& options) {
  if (options.operands().size() != 1)
    throw UsageError("one database or folder with results.sqlite is needed: out/nightly");
  return database_file(options.operands().front());
}

}  // namespace headroom::sweep
