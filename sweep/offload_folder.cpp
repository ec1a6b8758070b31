#include "sweep/offload_folder.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <stdexcept>

namespace headroom::sweep {

Bytes space_in(const std::string& folder) {
  namespace fs = std::filesystem;
  const auto refuse = [&](std::string_view what) {
    throw std::runtime_error(fmt::format(
        "--offload-folder: {}: {}; expected a folder that is there or can be made, and in which "
        "files can be written",
        folder, what));
  };
  std::error_code error;
  fs::path there = fs::absolute(folder, error);
  while (!error && !fs::exists(there, error) && there.has_relative_path())
    there = there.parent_path();
  if (error || !fs::is_directory(there, error)) refuse("is not a folder");
  if (::access(there.c_str(), W_OK | X_OK) != 0)
    refuse(fmt::format("{} may not be written", there.string()));
  const fs::space_info space = fs::space(there, error);
  if (error) refuse(error.message());
  constexpr auto most = static_cast<std::uintmax_t>(std::numeric_limits<Size>::max());
  return Bytes(static_cast<Size>(std::min(space.available, most)));
}

}  // namespace headroom::sweep
