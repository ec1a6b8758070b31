#include "model/infer/memory/attention_rules.hpp"

#include <algorithm>
#include <limits>

#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/cache_elements.hpp"
#include "model/infer/memory/cache_format.hpp"

namespace headroom::model {
namespace {

/// Tokens that one query looks at, at most.
double reach_of(const Scenario& s, const CacheClass& c) {
  const Size picked = s.runtime->kernels.sparse_attention ? c.picked : 0;
  const Size window = applied_window(s, c);
  const Size reach = window > 0 && picked > 0 ? std::min(window, picked) : window + picked;
  return reach > 0 ? static_cast<double>(reach) : std::numeric_limits<double>::infinity();
}

Size of_range(const Size* before, Range range) { return before[range.last] - before[range.first]; }

}  // namespace

AttentionRules::AttentionRules(const Scenario& s, Size shards)
    : state_bytes_(s.runtime->cache.state_bytes),
      wider_bytes_(fp32_excess(s)),
      stores_scores_(score_bytes(s) > 0) {
  const CachePrecision cache = cache_precision(s);
  unpacks_ = s.runtime->kernels.dequant_bytes_per_element > 0 && cache.element_bytes() < 2;
  for (const CacheClass& c : s.weights->model->profile.caches) {
    const bool own = in_own_format(s, c);
    classes_.push_back({.crosses = c.kind == CacheKind::cross_attention,
                        .read = c.kind != CacheKind::waiting,  // one row of many is written a token
                        .reach = reach_of(s, c),
                        .ways = static_cast<double>(ways_of(s, c, shards)),
                        .key_bytes = cache.keys->element_bytes(),
                        .value_bytes = cache.values->element_bytes(),
                        .entry_bytes = own ? static_cast<double>(own_entry(s, c).bytes) : 0,
                        .entry_elements = static_cast<double>(c.entry_elements),
                        .elements_before = elements_before(s, c).data(),
                        .values_before = cache.differ() ? values_before(s, c).data() : nullptr,
                        .state_before = elements_of_state(s, c).data(),
                        .fp32_before = fp32_before(s, c).data(),
                        .dims_before = c.score_dims_before.data()});
  }
}

/// Bytes of a token in `layers`, in the formats of the cache.
double AttentionRules::token_bytes(const Class& of, Range layers) {
  const auto elements = static_cast<double>(of_range(of.elements_before, layers));
  if (of.entry_bytes > 0) return elements * of.entry_bytes / of.entry_elements;
  if (of.values_before == nullptr) return of.key_bytes * elements;
  const auto values = static_cast<double>(of_range(of.values_before, layers));
  return of.key_bytes * (elements - values) + of.value_bytes * values;
}

AttentionSums AttentionRules::over(Range layers) const {
  AttentionSums sums;
  for (const Class& c : classes_) {
    // Recurrent state is read and written at every token.
    const double state = 2.0 * static_cast<double>(of_range(c.state_before, layers) * state_bytes_ +
                                                   of_range(c.fp32_before, layers) * wider_bytes_);
    sums.classes_.push_back({.crosses = c.crosses,
                             .reach = c.reach,
                             .token_bytes = c.read ? token_bytes(c, layers) : 0,
                             .state_bytes = c.read ? state : 0,
                             .ways = c.ways,
                             .dims = static_cast<double>(of_range(c.dims_before, layers))});
  }
  return sums;
}

}  // namespace headroom::model
