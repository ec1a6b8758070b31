// Texts of screens, which break lines anywhere.
#pragma once

#include <string>

#include "hardware/text.hpp"

namespace headroom::test {

/// `text` with its words on one line, apart by single spaces.
inline std::string unbroken(const std::string& text) {
  std::string line;
  for (const auto word : words(text, " \n")) line += (line.empty() ? "" : " ") + std::string(word);
  return line;
}

}  // namespace headroom::test
