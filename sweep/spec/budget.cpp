#include "sweep/spec/budget.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"

namespace headroom::sweep {
namespace {

constexpr Size in_whole = 1'000'000;
constexpr Size most_values = 100'000;
constexpr std::string_view range_examples = "\"0-max+1GiB\" or \"25%-100%+25%\"";

[[noreturn]] void reject(std::string_view text, std::string_view why) {
  throw std::invalid_argument(fmt::format("found '{}', {}", text, why));
}

bool starts_with_number(std::string_view text) {
  return !text.empty() && ((text.front() >= '0' && text.front() <= '9') || text.front() == '.');
}

/// "50%" and "12.5%", to four decimals.
Size millionths_of(std::string_view text) {
  const auto number = trimmed(text.substr(0, text.size() - 1));
  if (!starts_with_number(number)) reject(text, "expected a share such as 50% or 12.5%");
  double percent = 0;
  const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), percent,
                                            std::chars_format::fixed);
  if (error != std::errc{} || end != number.data() + number.size())
    reject(text, "expected a share such as 50% or 12.5%");
  if (percent > 100) reject(text, "expected a share of at most 100%, which is max");
  const double exact = percent * 10'000;
  if (std::abs(exact - std::round(exact)) > 1e-6)
    reject(text, "expected a share with at most four decimals, such as 33.3333%");
  return static_cast<Size>(std::llround(exact));
}

/// The whole is max, and nothing is a size.
Budget share_of(Size millionths) {
  if (millionths == in_whole) return {.kind = Budget::Kind::rest, .bytes = {}};
  if (millionths == 0) return {};
  return {.kind = Budget::Kind::share, .bytes = {}, .millionths = millionths};
}

Bytes size_of(std::string_view text) { return text == "0" ? Bytes(0) : parse_bytes(text); }

/// One budget without `max`.
Budget size_or_share(std::string_view text) {
  if (text.ends_with('%')) return share_of(millionths_of(text));
  return {.kind = Budget::Kind::size, .bytes = size_of(text)};
}

/// Takes a budget from the front of `rest`, up to one of `ends`.
Budget take(std::string_view& rest, std::string_view ends) {
  rest = trimmed(rest);
  const bool is_max = rest.starts_with("max");
  if (is_max) {
    rest = trimmed(rest.substr(3));
    const bool takes_off = rest.starts_with('-') && starts_with_number(trimmed(rest.substr(1)));
    if (!takes_off) return {.kind = Budget::Kind::rest, .bytes = {}};
    rest.remove_prefix(1);
  }
  // A sign in front belongs to the number, which complains of it.
  const auto end = std::min(rest.find_first_of(ends, 1), rest.size());
  const auto text = trimmed(rest.substr(0, end));
  rest.remove_prefix(end);
  if (!is_max) return size_or_share(text);
  if (text.ends_with('%'))
    reject(fmt::format("max-{}", text),
           "expected a size after max-, such as max-2GiB, or a share alone: 90%");
  return {.kind = Budget::Kind::rest, .bytes = size_of(text)};
}

/// True if a range in sizes or shares can end or begin there: 0 is both.
bool can_be(const Budget& budget, Budget::Kind kind) {
  return budget.kind == kind || (budget.kind == Budget::Kind::size && budget.bytes == Bytes(0));
}

void check_range(std::string_view text, const BudgetRange& r) {
  using enum Budget::Kind;
  if (r.first.kind == rest)
    reject(text, "a range begins with a size or a share, such as 0-max-2GiB+1GiB");
  const bool in_shares = r.step.kind == share;
  if (!can_be(r.first, r.step.kind) || !(r.last.kind == rest || can_be(r.last, r.step.kind)))
    reject(text,
           fmt::format(
               "its step is a {}, so its ends are {} too (or max, max-2GiB at the end), such as {}",
               in_shares ? "share" : "size", in_shares ? "shares" : "sizes",
               in_shares ? "25%-max+25%" : "4GiB-max+4GiB"));
  if (r.last.kind != rest &&
      (in_shares ? r.last.millionths < r.first.millionths : r.last.bytes < r.first.bytes))
    reject(text, "whose end is below its start");
  const Size steps = in_shares ? in_whole / r.step.millionths
                     : r.last.kind == rest
                         ? 0
                         : (r.last.bytes - r.first.bytes).count() / r.step.bytes.count();
  if (steps > most_values) reject(text, "which has more than 10^5 values");
}

/// The shortest exact text: "2GiB", "1500MB".
std::string exact_text(Bytes bytes) {
  constexpr std::pair<std::string_view, Size> units[] = {
      {"GiB", Size{1} << 30}, {"MiB", Size{1} << 20}, {"KiB", Size{1} << 10},
      {"GB", 1'000'000'000},  {"MB", 1'000'000},      {"B", 1}};
  std::string shortest;
  for (const auto& [unit, size] : units) {
    if (bytes.count() % size != 0) continue;
    const auto text = fmt::format("{}{}", bytes.count() / size, unit);
    if (shortest.empty() || text.size() < shortest.size()) shortest = text;
  }
  return shortest;
}

/// Adds the budgets of a range that has a step.
void add_range(const BudgetRange& range, Bytes memory, std::vector<CardBudget>& all) {
  using enum Budget::Kind;
  const Bytes end = range.last.of(memory);
  const bool open = range.last.kind == rest;
  if (range.step.kind == share) {
    for (Size m = range.first.millionths; m < in_whole; m += range.step.millionths)
      if (const Budget each = share_of(m); each.of(memory) <= end)
        all.push_back({each.of(memory), each});
  } else {
    if (end > range.first.bytes &&
        (end - range.first.bytes).count() / range.step.bytes.count() > most_values)
      throw std::invalid_argument("a budget range has more than 10^5 values");
    for (Bytes value = range.first.bytes; value == range.first.bytes || value <= end;
         value += range.step.bytes) {
      const Budget each{.kind = size, .bytes = value};
      all.push_back({each.of(memory), each});
    }
  }
  if (open || end == memory) all.push_back({end, range.last});
}

}  // namespace

Bytes Budget::of(Bytes memory) const {
  switch (kind) {
    case Kind::size:
      return std::min(bytes, memory);
    case Kind::rest:
      return std::max(memory - bytes, Bytes(0));
    case Kind::share:
      break;
  }
  // In two parts, so that no product exceeds 2^63.
  const Size parts = memory.count() / in_whole, left = memory.count() % in_whole;
  return Bytes(parts * millionths + left * millionths / in_whole);
}

std::string Budget::relative() const {
  switch (kind) {
    case Kind::size:
      return {};
    case Kind::rest:
      return bytes == Bytes(0) ? "max" : "max-" + exact_text(bytes);
    case Kind::share:
      break;
  }
  return fmt::format("{}%", static_cast<double>(millionths) / 10'000);
}

Budget parse_budget(std::string_view text) {
  std::string_view rest = text;
  const Budget only = take(rest, "-+*");
  if (!rest.empty())
    reject(text, "expected one budget: a size (20GiB), a share (50%), max or max-2GiB");
  return only;
}

BudgetRange parse_budgets(std::string_view text) {
  BudgetRange range;
  std::string_view rest = text;
  range.first = range.last = take(rest, "-+*");
  if (rest.empty()) return range;
  if (rest.front() != '-')
    reject(text,
           fmt::format("which has a step and no end; expected a range such as {}", range_examples));
  rest.remove_prefix(1);
  range.last = take(rest, "-+*");
  if (!rest.starts_with('+'))
    reject(text,
           fmt::format("expected a range with a step, such as {}, or max-2GiB", range_examples));
  range.step = size_or_share(trimmed(rest.substr(1)));
  if (range.is_single()) reject(text, "a range that does not move");
  check_range(text, range);
  return range;
}

std::vector<CardBudget> budgets(const std::vector<BudgetRange>& ranges, Bytes memory) {
  std::vector<CardBudget> all;
  for (const BudgetRange& range : ranges) {
    if (range.is_single())
      all.push_back({range.first.of(memory), range.first});
    else
      add_range(range, memory, all);
  }
  std::ranges::stable_sort(all, [](const CardBudget& a, const CardBudget& b) {
    return std::pair(a.bytes, a.asked.kind == Budget::Kind::size) <
           std::pair(b.bytes, b.asked.kind == Budget::Kind::size);
  });
  const auto repeats = std::ranges::unique(all, {}, &CardBudget::bytes);
  all.erase(repeats.begin(), repeats.end());
  return all;
}

}  // namespace headroom::sweep
