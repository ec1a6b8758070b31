// Ranges as specs write them: first-last*factor, first-last+step.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "hardware/quantity_text.hpp"
#include "sweep/spec.hpp"

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

Bytes bytes(std::string_view text) {
  if (text == "0") return Bytes(0);
  return parse_bytes(text);
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
      throw std::invalid_argument(fmt::format("the range '{}' has more than 10^5 values", text));
    values.push_back(value);
    if (multiplies && value > last / step) break;
  }
  return values;
}

BudgetRange parse_budget(std::string_view text) {
  const Pieces p = pieces(text);
  BudgetRange range;
  if (p.last.empty()) {
    if (p.first == "max") {
      range.to_max = true;
      return range;
    }
    range.first = range.last = bytes(p.first);
    return range;
  }
  range.first = bytes(p.first);
  range.to_max = p.last == "max";
  range.last = range.to_max ? range.first : bytes(p.last);
  if (p.operation != '+')
    throw std::invalid_argument(
        fmt::format("found '{}', expected a range with a step, such as \"0-max+1GiB\"", text));
  range.step = bytes(p.step);
  if (range.step <= Bytes(0))
    throw std::invalid_argument(fmt::format("the range '{}' does not move", text));
  if (range.last < range.first)
    throw std::invalid_argument(fmt::format("the range '{}' is empty", text));
  if (!range.to_max &&
      (range.last - range.first).count() / range.step.count() > static_cast<Size>(max_values))
    throw std::invalid_argument(fmt::format("the range '{}' has more than 10^5 values", text));
  return range;
}

std::vector<Bytes> budgets(const std::vector<BudgetRange>& ranges, Bytes memory) {
  std::vector<Bytes> all;
  for (const auto& range : ranges) {
    const Bytes last = range.to_max ? memory : std::min(range.last, memory);
    if (range.to_max && range.step == Bytes(0)) {
      all.push_back(memory);
      continue;
    }
    all.push_back(std::min(range.first, memory));
    if (range.step == Bytes(0)) continue;
    if ((last - range.first).count() / range.step.count() > static_cast<Size>(max_values))
      throw std::invalid_argument("a budget range has more than 10^5 values");
    for (Bytes value = range.first + range.step; value <= last; value += range.step)
      all.push_back(value);
    if (range.to_max || range.last >= memory) all.push_back(memory);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace headroom::sweep
