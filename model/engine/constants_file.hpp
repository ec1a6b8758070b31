// The embedded tables of fitted constants: tab-separated, one heading line.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <string>
#include <string_view>

#include "hardware/embedded.hpp"

namespace headroom::model {

/// The bytes of the embedded file `name`. Throws std::logic_error where there is none.
inline std::string_view constants_file(std::string_view name) {
  const std::string_view bytes = embedded_models().content(name);
  if (bytes.empty()) throw std::logic_error("no " + std::string(name) + " is embedded");
  return bytes;
}

/// The first `n` fields of a line; the last one takes the rest of it.
template <std::size_t n>
std::array<std::string_view, n> fields_of(std::string_view line) {
  std::array<std::string_view, n> all{};
  for (std::size_t i = 0; i < n; ++i) {
    const auto end = i + 1 < n ? std::min(line.find('\t'), line.size()) : line.size();
    all[i] = line.substr(0, end);
    line.remove_prefix(std::min(end + 1, line.size()));
  }
  return all;
}

/// The number that a field holds.
inline double number_of(std::string_view text) {
  double value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Calls `act(line, number of the line)` for each line that is neither the heading nor empty.
template <class Act>
void for_lines(std::string_view rest, Act act) {
  for (int line = 1; !rest.empty(); ++line) {
    const auto end = std::min(rest.find('\n'), rest.size());
    if (line > 1 && end > 0) act(rest.substr(0, end), line);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
}

}  // namespace headroom::model
