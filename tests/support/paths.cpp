// Only this file is compiled with absolute paths. All others compile to the same object in every
// clone, so that a compiler cache can serve them.
#include "paths.hpp"

namespace headroom::test {

std::string source_path(const std::string& relative) {
  return std::string(HEADROOM_SOURCE) + "/" + relative;
}

std::string program_path() { return HEADROOM_PROGRAM; }

}  // namespace headroom::test
