#include "model/infer/memory/cache_elements.hpp"

#include "model/engine/runs_on.hpp"
#include "model/infer/memory/kv_cache.hpp"

namespace headroom::model {

const std::vector<Size>& elements_before(const Scenario& s, const CacheClass& c) {
  const bool latent = c.kind == CacheKind::latent;
  if (c.kind == CacheKind::indexer &&
      is_listed(s.runtime->cache.index_values_classes, *s.weights->model))
    return c.twice_before;
  const bool expanded = latent ? !keeps_latents(s) : s.runtime->cache.repeated_heads;
  if (latent && expanded && s.runtime->cache.pads_expanded) return c.padded_before;
  if (expanded) return c.expanded_before;
  return latent && s.runtime->cache.duplicates_mla_values ? c.twice_before : c.per_token_before;
}

const std::vector<Size>& values_before(const Scenario& s, const CacheClass& c) {
  const bool latent = c.kind == CacheKind::latent;
  const auto& elements = elements_before(s, c);
  if (&elements == &c.twice_before) return c.second_values_before;
  const bool expanded = &elements == &c.expanded_before || (latent && !keeps_latents(s));
  return expanded ? c.expanded_values_before : c.values_before;
}

}  // namespace headroom::model
