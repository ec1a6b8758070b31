#include "model/answer/span_words.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string_view>

namespace headroom::model {
namespace {

/// "9.93 G" of 9.93e9.
std::string with_prefix(double amount) {
  constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T", "P", "E"};
  constexpr double rounds_to_next = 999.5;  // three digits round up to it
  std::size_t by = 0;
  for (; amount >= rounds_to_next && by + 1 < std::size(prefixes); ++by) amount /= 1000;
  return fmt::format("{:.3g} {}", amount, prefixes[by]);
}

std::string_view short_unit(const Span& span) { return span.unit == "bytes" ? "B" : span.unit; }

/// True if the unit is a quantity with prefixes, not a number of things.
bool is_measured(const Span& span) { return span.unit == "bytes" || span.unit == "FLOPs"; }

}  // namespace

std::string amount_words(const Span& span) {
  if (is_measured(span)) return with_prefix(span.amount) + std::string(short_unit(span));
  return fmt::format("{:.4g} {}", span.amount, span.unit);
}

std::string rate_words(const Span& span) {
  if (is_measured(span)) return with_prefix(span.rate) + std::string(short_unit(span)) + "/s";
  return span.rate > 0 ? fmt::format("{:.3g} us each", 1e6 / span.rate) : "";
}

}  // namespace headroom::model
