#include "hardware/text_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>

namespace headroom {

std::string read_text_file(const std::string& file, std::string_view expected) {
  std::error_code error;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, error))
    throw std::runtime_error(fmt::format("{}: cannot be read{}{}", file,
                                         expected.empty() ? "" : "; expected ", expected));
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace headroom
