// The one place that writes the output of a command.
#include "sweep/stream.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <stdexcept>
#include <string>

#include "report/store.hpp"
#include "report/whole_file.hpp"

namespace headroom::sweep {

void stream(const Options& options, const std::function<void(std::ostream&)>& write) {
  if (options.given("out")) {
    const std::filesystem::path target = options.text("out");
    std::error_code error;
    if (target.has_parent_path() && !std::filesystem::is_directory(target.parent_path(), error))
      throw report::StoreError(fmt::format(
          "{}: cannot be written; expected a file in a folder that exists", target.string()));
    return report::write_whole(target, write);
  }
  errno = 0;
  try {
    write(std::cout);
    std::cout.flush();
  } catch (const std::ios_base::failure&) {
    std::cout.setstate(std::ios::badbit);
  }
  if (!std::cout)
    throw std::runtime_error(fmt::format("standard output: {}", std::strerror(errno)));
}

}  // namespace headroom::sweep
