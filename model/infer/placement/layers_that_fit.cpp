// Number of layers that fit in so many bytes.
#include "model/infer/placement/split.hpp"

namespace headroom::model {

Size layers_that_fit(const Scenario& s, const CacheBytes& cache, Size first, Size end, Bytes left) {
  const QuantisedModel& w = *s.weights;
  if (first >= end) return first;
  const auto held = [&](Size last) {
    return layer_bytes(w, {first, last}) - tables_on_host(s, {first, last}) + cache(first, last);
  };
  const Bytes all = held(end);
  if (all <= left) return end;
  // As many as there would be, were all layers alike.
  const double share = std::max(0.0, left.real() / all.real());
  return largest_near(first + static_cast<Size>(share * static_cast<double>(end - first)), first,
                      end, [&](Size last) { return held(last) <= left; });
}

}  // namespace headroom::model
