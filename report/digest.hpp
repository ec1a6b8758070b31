// FNV-1a (Fowler, Noll, Vo; 64 bit) over texts and numbers: equal content has equal digests.
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cstdint>
#include <string>
#include <string_view>

namespace headroom::report {

class Digest {
 public:
  void add(std::string_view text) {
    for (const char c : text) byte(static_cast<unsigned char>(c));
    byte(0xff);  // "a" + "b" is not "ab"
  }
  void add(std::int64_t value) {
    for (int shift = 0; shift < 64; shift += 8)
      byte(static_cast<unsigned char>(static_cast<std::uint64_t>(value) >> shift));
  }
  std::int64_t value() const { return std::bit_cast<std::int64_t>(state_); }
  /// 16 hexadecimal digits.
  std::string text() const { return fmt::format("{:016x}", state_); }

 private:
  void byte(unsigned char value) { state_ = (state_ ^ value) * 0x100000001b3ULL; }
  std::uint64_t state_ = 0xcbf29ce484222325ULL;
};

}  // namespace headroom::report
