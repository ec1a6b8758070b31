// Text helpers for readers of files, flags and names.
#pragma once

#include <algorithm>
#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"

namespace headroom {

/// `text` without spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// Parts between separators, trimmed, including empty ones. There is one more part than separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Non-empty parts between any of `separators`.
std::vector<std::string_view> words(std::string_view text, std::string_view separators = " ");

/// Characters of UTF-8 `text`: the columns that it takes in a terminal.
inline std::size_t text_width(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

/// `text` as a whole number from 0 on; nothing if it has anything else in it.
std::optional<Size> whole_number(std::string_view text);

/// `text` with control characters but line ends and tabs spelled out, as "\\x1b". Names in files of
/// others may have some, and a terminal would obey them.
std::string without_controls(std::string_view text);
/// `text` with every control character spelled out, so that it stays one line: a name in a comment
/// or in a document.
std::string one_line(std::string_view text);

/// The texts without repeats, in their order.
std::vector<std::string> each_once(std::vector<std::string> texts);

/// True if `part` stands anywhere in `text`.
inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// True if `text` ends with one of `ends`.
inline bool ends_with_any(std::string_view text, std::initializer_list<std::string_view> ends) {
  return std::ranges::any_of(ends, [&](auto end) { return text.ends_with(end); });
}

}  // namespace headroom
