#include "model/engine/engine_version.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

namespace headroom::model {
namespace {

using Numbers = std::vector<int>;

/// `a` < `b`, where missing numbers are 0.
bool before(const Numbers& a, const Numbers& b) {
  for (std::size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    const int left = i < a.size() ? a[i] : 0, right = i < b.size() ? b[i] : 0;
    if (left != right) return left < right;
  }
  return false;
}

/// `a` without the numbers that `end` does not have.
Numbers cut(Numbers a, const Numbers& end) {
  a.resize(std::min(a.size(), end.size()));
  return a;
}

bool stands_for(const Engine& row, const Numbers& version) {
  if (row.from.empty() && row.to.empty()) return false;
  // "0.7" is the newest 0.7.x
  const Numbers from = version_numbers(row.from).value_or(Numbers{});
  if (before(version, cut(from, version))) return false;
  if (row.to.empty()) return true;
  const Numbers to = *version_numbers(row.to);
  return !before(to, cut(version, to));
}

}  // namespace

std::optional<std::vector<int>> version_numbers(std::string_view text) {
  if (text.starts_with('v') || text.starts_with('b')) text.remove_prefix(1);
  Numbers numbers;
  while (!text.empty()) {
    int number = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (error != std::errc() || number < 0) return std::nullopt;
    numbers.push_back(number);
    text.remove_prefix(static_cast<std::size_t>(end - text.data()));
    if (text.empty()) break;
    // "0.6.4.post1" and "0.9rc1" belong to the release before the word.
    if (text.find_first_of("0123456789", 1) == 1 && text.front() == '.') {
      text.remove_prefix(1);
      continue;
    }
    if (text.starts_with(".post") || text.starts_with("rc") || text.starts_with(".dev") ||
        text.starts_with('+'))
      break;
    return std::nullopt;
  }
  return numbers.empty() ? std::nullopt : std::optional(numbers);
}

std::string version_range(std::string_view from, std::string_view to) {
  if (from.empty()) return fmt::format("to {}", to);
  return to.empty()   ? fmt::format("{} on", from)
         : from == to ? std::string(to)
                      : fmt::format("{} to {}", from, to);
}

const Engine* row_of_version(std::span<const Engine> rows, std::string_view series,
                             std::string_view version) {
  const auto numbers = version_numbers(version);
  if (!numbers) return nullptr;
  const auto found = std::ranges::find_if(
      rows, [&](const Engine& row) { return row.series == series && stands_for(row, *numbers); });
  return found == rows.end() ? nullptr : &*found;
}

}  // namespace headroom::model
