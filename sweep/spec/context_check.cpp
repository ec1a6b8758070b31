#include "sweep/spec/context_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace headroom::sweep {
namespace {

/// Part of a choice that decides lengths; 0: not decided.
struct Lengths {
  Size prompt = 0, output = 0, context = 0, images = 0;
};

/// A digit that decides lengths.
struct LengthDigit {
  std::size_t digit = 0;
  std::vector<Lengths> choices;
};

std::vector<LengthDigit> length_digits(const JobGrid& job) {
  std::vector<LengthDigit> all;
  for (std::size_t k = 0; k < job.digits.size(); ++k) {
    const model::Scenario& s = job.digits[k].front().decides;
    if (s.prompt_tokens == 0 && s.output_tokens == 0 && s.context == 0 &&
        std::ranges::all_of(job.digits[k], [](const Choice& c) { return c.image_tokens == 0; }))
      continue;
    LengthDigit& digit = all.emplace_back(LengthDigit{k, {}});
    for (const Choice& c : job.digits[k])
      digit.choices.push_back(
          {c.decides.prompt_tokens, c.decides.output_tokens, c.decides.context, c.image_tokens});
  }
  return all;
}

/// True if even the shortest context holds the longest of everything.
bool is_always_enough(const std::vector<LengthDigit>& digits) {
  Size needed = 0, context = std::numeric_limits<Size>::max();
  for (const LengthDigit& digit : digits) {
    Lengths most;
    for (const Lengths& each : digit.choices) {
      most.prompt = std::max(most.prompt, each.prompt);
      most.output = std::max(most.output, each.output);
      most.images = std::max(most.images, each.images);
      if (each.context > 0) context = std::min(context, each.context);
    }
    needed += most.prompt + most.output + most.images;
  }
  return context >= needed;
}

/// As overlay() of the choices.
Lengths lengths_at(const std::vector<LengthDigit>& digits, std::span<const Size> at) {
  Lengths all;
  for (std::size_t k = 0; k < digits.size(); ++k) {
    const Lengths& each = digits[k].choices[static_cast<std::size_t>(at[k])];
    if (each.prompt > 0) all.prompt = each.prompt;
    if (each.output > 0) all.output = each.output;
    if (each.context > 0) all.context = each.context;
    all.images += each.images;
  }
  return all;
}

}  // namespace

void check_contexts(const Spec& spec, const GridSpec& grid, const JobGrid& job) {
  if (grid.values("contexts").empty()) return;
  const auto lengths = length_digits(job);
  if (is_always_enough(lengths)) return;
  std::vector<std::size_t> used;
  std::vector<Size> radices;
  for (const LengthDigit& each : lengths) {
    used.push_back(each.digit);
    radices.push_back(static_cast<Size>(each.choices.size()));
  }
  const Grid part(radices);
  if (part.size() > max_combinations)
    throw spec.error(grid, "contexts", "more than 2*10^7 combinations with the tokens; link them");
  std::vector<const Exclusion*> exclusions;
  for (const Exclusion& each : job.exclusions)
    if (std::ranges::includes(used, each.digits())) exclusions.push_back(&each);
  std::vector<Size> at(used.size()), point(job.digits.size());
  for (Size i = 0; i < part.size(); ++i, part.advance(at)) {
    const Lengths all = lengths_at(lengths, at);
    const Size prompt = all.prompt + all.images;
    if (all.context >= prompt + all.output) continue;
    for (std::size_t k = 0; k < used.size(); ++k) point[used[k]] = at[k];
    if (std::ranges::none_of(exclusions, [&](const auto* each) { return each->excludes(point); }))
      throw spec.error(
          grid, "contexts",
          fmt::format("{} is less than prompt_tokens + output_tokens ({} + {}); choose smaller "
                      "ones, link them, or exclude \"context < prompt_tokens + output_tokens\"",
                      all.context, prompt, all.output));
  }
}

}  // namespace headroom::sweep
