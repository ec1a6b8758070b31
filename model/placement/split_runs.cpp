// How many layers fit: whole runs of equal layers by their sums, the rest by division.
#include <algorithm>

#include "model/placement/split.hpp"

namespace headroom::model {
namespace {

std::size_t index(Size i) { return static_cast<std::size_t>(i); }

/// The largest n in [low, high] that `fits`, which holds for `low` and is monotone.
template <class F>
Size most(Size low, Size high, F&& fits) {
  while (low < high) {
    const Size middle = (low + high + 1) / 2;
    if (fits(middle))
      low = middle;
    else
      high = middle - 1;
  }
  return low;
}

/// The same where n * `each` fits in `room`, but for the rounding of a quantised cache to whole
/// blocks: one division, looked at from both sides.
template <class F>
Size divided(Size high, Bytes room, Bytes each, F&& fits) {
  const Size n = each > Bytes(0) ? std::clamp<Size>(room.count() / each.count(), 0, high) : high;
  if (fits(n) && (n == high || !fits(n + 1))) return n;
  return most(0, high, fits);
}

}  // namespace

Size layers_that_fit(const Scenario& s, const CacheBytes& cache, Size first, Bytes left) {
  const Weights& w = *s.weights;
  const Size layers = std::ssize(w.layer);
  if (first >= layers) return first;
  const auto held = [&](Size from, Size to) {
    return layer_bytes(w, {from, to}) + cache(from, to);
  };
  const Size run = w.run_of[index(first)];
  const Size whole = most(run, std::ssize(w.run_ends), [&](Size runs) {
    return held(first, w.run_ends[index(runs - 1)]) <= left;
  });
  const Size at = whole == run ? first : w.run_ends[index(whole - 1)];
  if (at == layers) return layers;
  return at + divided(w.run_ends[index(whole)] - at, left - held(first, at), held(at, at + 1),
                      [&](Size n) { return n == 0 || held(first, at + n) <= left; });
}

}  // namespace headroom::model
