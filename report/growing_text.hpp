// A text that is written at its end, in memory that the next text uses again.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string_view>
#include <type_traits>

namespace headroom::report {

/// The text of a number: the fewest digits that read back as it. Neighbouring rows have many equal
/// numbers, and a copy is faster.
class NumberText {
 public:
  static constexpr std::size_t most = 32;  ///< characters, of which a number takes fewer

  template <class Number>
  void set(Number value) {
    const auto bits = std::bit_cast<std::int64_t>(value);
    if (length_ > 0 && bits == bits_ && is_real_ == std::is_floating_point_v<Number>) return;
    bits_ = bits;
    is_real_ = std::is_floating_point_v<Number>;
    const auto end = std::to_chars(digits_.data(), digits_.data() + most, value).ptr;
    length_ = static_cast<std::size_t>(end - digits_.data());
  }
  const char* data() const { return digits_.data(); }
  std::size_t length() const { return length_; }

 private:
  std::int64_t bits_ = 0;
  bool is_real_ = false;
  std::size_t length_ = 0;  ///< 0: of none yet
  std::array<char, most> digits_;
};

/// Memory is neither cleared nor given back. A loop over rows takes it once.
class GrowingText {
 public:
  std::string_view view() const { return {memory_.get(), size_}; }
  void clear() { size_ = 0; }
  void append(std::string_view text) {
    if (text.empty()) return;
    std::memcpy(room(text.size()), text.data(), text.size());
    size_ += text.size();
  }
  void append(char c) {
    *room(1) = c;
    ++size_;
  }
  /// A copy of fixed length takes few instructions.
  void append(const NumberText& number) {
    std::memcpy(room(NumberText::most), number.data(), NumberText::most);
    size_ += number.length();
  }

 private:
  char* room(std::size_t bytes) {
    if (room_ - size_ < bytes) grow(bytes);
    return memory_.get() + size_;
  }
  void grow(std::size_t bytes) {
    room_ = std::max(2 * room_, size_ + bytes);
    auto larger = std::make_unique_for_overwrite<char[]>(room_);
    if (size_ > 0) std::memcpy(larger.get(), memory_.get(), size_);
    memory_ = std::move(larger);
  }
  std::unique_ptr<char[]> memory_;
  std::size_t size_ = 0, room_ = 0;
};

}  // namespace headroom::report
