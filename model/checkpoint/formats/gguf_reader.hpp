// Reads the numbers and strings of a GGUF header.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>

#include "model/checkpoint/formats/gguf.hpp"

namespace headroom::model {

/// Thrown at the end of the prefix. It is an error only if the file ends there too.
struct EndOfPrefix {};

/// Reads a prefix of a file and checks each length against the file's size.
class GgufReader {
 public:
  GgufReader(std::string_view bytes, Size file_size, const std::string& origin)
      : bytes_(bytes), file_size_(file_size), origin_(origin) {}

  Size position() const { return position_; }

  /// The next `n` bytes. Rejected immediately if the file is too short.
  std::string_view take(std::uint64_t n, std::string_view what) {
    const Size left_in_file = file_size_ < 0 ? max_gguf_header - position_ : file_size_ - position_;
    if (n > static_cast<std::uint64_t>(std::max<Size>(left_in_file, 0)))
      fail(fmt::format("{} of {} bytes at byte {}, {}", what, n, position_,
                       file_size_ < 0 ? "beyond the longest header"
                                      : fmt::format("the file has {}", file_size_)));
    if (n > bytes_.size() - static_cast<std::size_t>(position_)) throw EndOfPrefix{};
    const auto taken = bytes_.substr(static_cast<std::size_t>(position_), n);
    position_ += static_cast<Size>(n);
    return taken;
  }
  std::uint32_t u32(std::string_view what) { return static_cast<std::uint32_t>(whole(4, what)); }
  std::uint64_t u64(std::string_view what) { return whole(8, what); }
  std::string_view text(Size longest, std::string_view what) {
    const std::uint64_t length = u64(what);
    if (length > static_cast<std::uint64_t>(longest))
      fail(fmt::format("{} of {} bytes, at most {} are allowed", what, length, longest));
    return take(length, what);
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw FormatError(fmt::format("{}: {}", origin_, what));
  }

 private:
  std::uint64_t whole(int n, std::string_view what) {
    const auto raw = take(static_cast<std::uint64_t>(n), what);
    std::uint64_t value = 0;
    for (std::size_t i = raw.size(); i-- > 0;)
      value = value << 8 | static_cast<unsigned char>(raw[i]);
    return value;
  }

  std::string_view bytes_;
  Size file_size_;
  const std::string& origin_;
  Size position_ = 0;
};

}  // namespace headroom::model
