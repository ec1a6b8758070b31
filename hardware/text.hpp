// Pieces of text: what readers of files, flags and names share.
#pragma once

#include <string_view>
#include <vector>

namespace headroom {

/// `text` without spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// The pieces between each `separator`, trimmed, empty ones included: one more than there are
/// separators.
std::vector<std::string_view> split(std::string_view text, char separator);

/// The pieces between any of `separators`, empty ones left out.
std::vector<std::string_view> words(std::string_view text, std::string_view separators = " ");

/// Whether `part` stands anywhere in `text`.
inline bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

}  // namespace headroom
