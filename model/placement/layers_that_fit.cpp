// How many layers fit in so many bytes.
#include "model/placement/split.hpp"

namespace headroom::model {

Size layers_that_fit(const Scenario& s, const CacheBytes& cache, Size first, Bytes left) {
  const Weights& w = *s.weights;
  const Size layers = std::ssize(w.layer);
  if (first >= layers) return first;
  const auto held = [&](Size last) { return layer_bytes(w, {first, last}) + cache(first, last); };
  const Bytes all = held(layers);
  if (all <= left) return layers;
  // As many as there would be, were all layers alike.
  const double share = std::max(0.0, left.real() / all.real());
  return largest_near(first + static_cast<Size>(share * static_cast<double>(layers - first)), first,
                      layers, [&](Size last) { return held(last) <= left; });
}

}  // namespace headroom::model
