// Ranges as specs write them: first-last*factor, first-last+step.
#include <fmt/format.h>

#include <charconv>

#include "sweep/spec/spec.hpp"

namespace headroom::sweep {
namespace {

constexpr std::size_t max_values = 100'000;

std::string_view trim(std::string_view text) {
  const auto first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

/// first, last, step and whether the step multiplies; last and step empty where there is no range.
struct Pieces {
  std::string_view first, last, step;
  char operation = 0;
};
Pieces pieces(std::string_view text) {
  Pieces p;
  const auto dash = text.find('-', 1);
  if (dash == std::string_view::npos) {
    p.first = trim(text);
    return p;
  }
  p.first = trim(text.substr(0, dash));
  const auto rest = text.substr(dash + 1);
  const auto operation = rest.find_first_of("*+");
  p.last = trim(rest.substr(0, operation));
  if (operation != std::string_view::npos) {
    p.operation = rest[operation];
    p.step = trim(rest.substr(operation + 1));
  }
  if (p.first.empty() || p.last.empty() || (p.operation != 0 && p.step.empty()))
    throw std::invalid_argument(
        fmt::format("found '{}', expected a range such as \"1-64*2\" or \"0-80+1\"", text));
  return p;
}

Size whole(std::string_view text) {
  Size number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || number < 0 ||
      number > (Size{1} << 40))
    throw std::invalid_argument(
        fmt::format("found '{}', expected a whole number from 0 to 2^40 or a range such as "
                    "\"1-64*2\" or \"0-80+1\"",
                    text));
  return number;
}

}  // namespace

std::vector<Size> parse_range(std::string_view text) {
  const Pieces p = pieces(text);
  if (p.last.empty()) return {whole(p.first)};
  const Size first = whole(p.first), last = whole(p.last);
  const Size step = p.operation == 0 ? 1 : whole(p.step);
  const bool multiplies = p.operation == '*';
  if (last < first)
    throw std::invalid_argument(fmt::format("the range '{}' is empty: {} < {}", text, last, first));
  if (step < (multiplies ? 2 : 1) || (multiplies && first == 0))
    throw std::invalid_argument(
        fmt::format("the range '{}' does not move: expected a step of at least {}", text,
                    multiplies ? "2 from a positive start" : "1"));
  std::vector<Size> values;
  for (Size value = first; value <= last; value = multiplies ? value * step : value + step) {
    if (values.size() == max_values)
      throw std::invalid_argument(fmt::format(
          "the range '{}' has more than 10^5 values; expected a larger step, as in \"1-64*2\" or "
          "\"0-80+1\"",
          text));
    values.push_back(value);
    if (multiplies && value > last / step) break;
  }
  return values;
}

}  // namespace headroom::sweep
