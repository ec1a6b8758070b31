#include "model/describe/cache_classes.hpp"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace headroom::model {
namespace {

using Norms = std::unordered_map<std::string_view, Size>;

/// Widths of the norms over MLA's latents, by the path of their attention.
Norms latent_norms(const Part& part) {
  Norms norms;
  constexpr std::string_view name = ".kv_a_layernorm.weight";
  for (const Tensor& tensor : part.tensors)
    if (tensor.name.ends_with(name))
      norms.emplace(std::string_view(tensor.name).substr(0, tensor.name.size() - name.size()),
                    tensor.elements());
  return norms;
}

/// Elements of a latent that values are made of. They are the normed ones; the others are rotated
/// keys. Values beside an indexer's keys are as wide as these.
Size second_values(const Cache& cache, const Norms& norms) {
  if (cache.kind == CacheKind::indexer) return cache.per_token;
  if (cache.kind != CacheKind::latent) return 0;
  const auto norm = norms.find(cache.path);
  return norm == norms.end() ? 0 : norm->second;
}

/// Elements per token that are values.
Size values_of(const Cache& cache) {
  if (cache.values > 0) return cache.values;
  const bool attention =
      cache.kind == CacheKind::self_attention || cache.kind == CacheKind::cross_attention;
  return attention ? cache.per_token / 2 : 0;
}

/// Likewise, of a cache with keys and values for each query head.
Size expanded_values(const Cache& cache) {
  if (cache.expanded_per_token == 0) return values_of(cache);
  if (cache.expanded_values > 0) return cache.expanded_values;
  return cache.expanded_per_token / 2;
}

bool is_of(const CacheClass& c, const Cache& cache) {
  return c.kind == cache.kind && c.window == cache.window && c.picked == cache.picked &&
         c.kv_heads == cache.kv_heads && c.entry_tokens == cache.entry_tokens &&
         c.entry_bytes == cache.entry_bytes && c.sm100_entry_bytes == cache.sm100_entry_bytes &&
         c.page_tokens == cache.page_tokens;
}

CacheClass class_of(const Cache& cache, std::size_t size) {
  const std::vector<Size> none(size);
  return {.kind = cache.kind,
          .window = cache.window,
          .picked = cache.picked,
          .kv_heads = cache.kv_heads,
          .entry_elements = cache.per_token * cache.entry_tokens,
          .entry_tokens = cache.entry_tokens,
          .entry_bytes = cache.entry_bytes,
          .sm100_entry_bytes = cache.sm100_entry_bytes,
          .page_tokens = cache.page_tokens,
          .layers = 0,
          .per_token_before = none,
          .expanded_before = none,
          .padded_before = none,
          .twice_before = none,
          .values_before = none,
          .expanded_values_before = none,
          .second_values_before = none,
          .state_before = none,
          .carried_before = none,
          .scanned_before = none,
          .fp32_before = none,
          .score_dims_before = none};
}

}  // namespace

std::vector<CacheClass> cache_classes(const Part& part, const std::vector<Size>& layer_of,
                                      std::size_t layers) {
  const Norms norms = latent_norms(part);
  const std::size_t size = layers + 1;
  std::vector<CacheClass> all;
  for (std::size_t i = 0; i < part.caches.size(); ++i) {
    const Cache& cache = part.caches[i];
    auto it = std::ranges::find_if(all, [&](const CacheClass& c) { return is_of(c, cache); });
    if (it == all.end()) it = all.insert(it, class_of(cache, size));
    // A cache outside all layers counts from the first layer on.
    const auto at = static_cast<std::size_t>(layer_of[i] < 0 ? 1 : layer_of[i] + 1) % size;
    ++it->layers;
    it->per_token_before[at] += cache.per_token;
    it->expanded_before[at] +=
        cache.expanded_per_token > 0 ? cache.expanded_per_token : cache.per_token;
    it->padded_before[at] += cache.padded_per_token > 0 ? cache.padded_per_token : cache.per_token;
    it->twice_before[at] += cache.per_token + second_values(cache, norms);
    it->values_before[at] += values_of(cache);
    it->expanded_values_before[at] += expanded_values(cache);
    it->second_values_before[at] += second_values(cache, norms);
    it->state_before[at] += cache.per_sequence;
    it->carried_before[at] += cache.per_sequence - cache.per_step;
    it->scanned_before[at] += cache.scanned;
    it->fp32_before[at] += cache.in_fp32;
    it->score_dims_before[at] += cache.score_dims;
  }
  for (CacheClass& c : all)
    for (auto sums :
         {&CacheClass::per_token_before, &CacheClass::expanded_before, &CacheClass::padded_before,
          &CacheClass::twice_before, &CacheClass::values_before,
          &CacheClass::expanded_values_before, &CacheClass::second_values_before,
          &CacheClass::state_before, &CacheClass::carried_before, &CacheClass::scanned_before,
          &CacheClass::fp32_before, &CacheClass::score_dims_before})
      std::partial_sum((c.*sums).begin(), (c.*sums).end(), (c.*sums).begin());
  return all;
}

}  // namespace headroom::model
