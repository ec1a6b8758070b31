// Words and selections for ways that compare_ways() has put in order.
#include <algorithm>

#include "sweep/ways.hpp"

namespace headroom::sweep {

std::string_view choice_words(const std::vector<Way>& ways, Size batch) {
  const Way& first = ways.front();
  // Weights that fit, too, as times those of the first. No format of a quantised checkpoint holds
  // more bits than it does. Formats of one width differ by scales.
  constexpr double wider = 1.1, much_wider = 1.25;
  double widest = 1;
  for (const Way& way : ways)
    if (model::is_on_gpus(way.estimate) && !way.tight && way.estimate.queued == 0 &&
        !way.without_towers && way.bits > first.bits)
      widest = std::max(widest, way.weights->total.real() / first.weights->total.real());
  if (std::ranges::all_of(ways, [&](const Way& way) { return way.asked == first.asked; }))
    return "the fastest engine with room for it";
  if (below_four_bits(first) && !std::ranges::all_of(ways, below_four_bits))
    return "below 4 bits, as more are several times slower";
  if (!model::fits(first.estimate)) return "the closest to fitting";
  if (batch > 1) return "which serves most for its bits";
  if (!model::is_on_gpus(first.estimate)) return "the fastest for its bits";
  if (widest > much_wider) return "so much faster than wider weights";
  return widest > wider ? "faster for its bits than wider weights" : "the widest weights that fit";
}

std::vector<const Way*> best_of_each_precision(std::span<const Way> ways, std::size_t most) {
  std::vector<const Way*> best;
  for (const Way& way : ways)
    if (best.size() < most && std::ranges::none_of(best, [&](const Way* other) {
          return other->weights->scheme == way.weights->scheme;
        }))
      best.push_back(&way);
  return best;
}

}  // namespace headroom::sweep
