#include "hardware/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace headroom {
namespace {

/// Control characters spelled out, but line ends and tabs only where `one_line` asks for it.
std::string spelled_out(std::string_view text, bool one_line) {
  std::string safe;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // U+0080 to U+009F, which are control characters too, are 0xc2 and a byte below 0xa0.
    const bool second = i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xa0;
    const bool layout = byte == '\n' || byte == '\t' || text.substr(i).starts_with("\r\n");
    if (byte == 0xc2 && second)
      safe += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[++i]));
    else if ((byte < 0x20 || byte == 0x7f) && (one_line || !layout))
      safe += fmt::format("\\x{:02x}", byte);
    else
      safe += text[i];
  }
  return safe;
}

}  // namespace

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view blank = " \t\r\n";
  const auto first = text.find_first_not_of(blank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blank) - first + 1);
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const auto end = std::min(text.find(separator, begin), text.size());
    pieces.push_back(trimmed(text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return pieces;
}

std::vector<std::string_view> words(std::string_view text, std::string_view separators) {
  std::vector<std::string_view> all;
  while (!text.empty()) {
    const auto end = std::min(text.find_first_of(separators), text.size());
    if (end > 0) all.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return all;
}

std::optional<Size> whole_number(std::string_view text) {
  Size number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0) return std::nullopt;
  return number;
}

std::string without_controls(std::string_view text) { return spelled_out(text, false); }
std::string one_line(std::string_view text) { return spelled_out(text, true); }

std::vector<std::string> each_once(std::vector<std::string> texts) {
  auto end = texts.begin();
  for (auto text = texts.begin(); text != texts.end(); ++text)
    if (std::find(texts.begin(), end, *text) == end) std::iter_swap(end++, text);
  texts.erase(end, texts.end());
  return texts;
}

}  // namespace headroom
