#include "hardware/text_file.hpp"

#include <fmt/format.h>

#include <filesystem>
#include <fstream>
#include <stdexcept>

namespace headroom {
namespace {

// More than people write or a program logs. Devices have no end.
constexpr std::size_t largest_text = std::size_t{256} << 20;

}  // namespace

std::string read_text_file(const std::string& file, std::string_view expected) {
  const std::string wanted = expected.empty() ? "" : fmt::format("; expected {}", expected);
  std::error_code error;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, error))
    throw std::runtime_error(fmt::format("{}: cannot be read{}", file, wanted));
  std::string text;
  char chunk[1 << 16];
  while (in) {
    in.read(chunk, sizeof chunk);
    text.append(chunk, static_cast<std::size_t>(in.gcount()));
    if (text.size() > largest_text)
      throw std::runtime_error(fmt::format("{}: cannot be read, larger than {} MiB{}", file,
                                           largest_text >> 20, wanted));
  }
  return text;
}

}  // namespace headroom
