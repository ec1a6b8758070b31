#include "model/infer/memory/state_pages.hpp"

#include <algorithm>

#include "model/infer/memory/cache_format.hpp"

namespace headroom::model {
namespace {

/// Bytes of the state of one layer on a card; 0 where layers differ.
Size state_on_card(const Scenario& s, const CacheClass& c, Size shards) {
  const Size all = elements_of_state(s, c).back();
  if (c.layers == 0 || all % c.layers != 0 || fp32_before(s, c).back() % c.layers != 0) return 0;
  constexpr Size fp32_bytes = 4;
  const Size wide = fp32_before(s, c).back();
  const Size plain = times({all - wide, s.runtime->cache.state_bytes});
  return divided_up(plain + times({wide, fp32_bytes}), times({c.layers, shards}));
}

/// Bytes of a token in one attention layer on a card.
Size token_on_card(const Scenario& s, const CacheClass& c, Size shards) {
  const Size heads = c.kind == CacheKind::latent || c.kv_heads == 0 ? 1 : c.kv_heads;
  return cache_precision(s)
      .keys->stored(c.per_token_before.back() / c.layers / std::min(heads, shards))
      .count();
}

}  // namespace

StatePages state_pages(const Scenario& s, Size shards) {
  const auto& classes = s.weights->model->profile.caches;
  if (s.runtime->cache.windows != Windows::hybrid_kv_pool || s.weights->model->profile.compressed)
    return {};
  Size state = 0, token = 0, step = s.runtime->cache.block_tokens;
  for (const CacheClass& c : classes) {
    const bool indexes = c.kind == CacheKind::indexer;
    if (indexes && c.entry_tokens > 1) continue;
    if (in_own_format(s, c) || indexes || c.layers == 0) return {};
    if (c.kind == CacheKind::recurrent) {
      const Size each = state_on_card(s, c, shards);
      if (each == 0) return {};
      state = std::max(state, each);
    } else {
      token = std::max(token, token_on_card(s, c, shards));
      constexpr Size mla_step = 128;  // kernels' blocks of 128 tokens stay whole
      if (c.kind == CacheKind::latent) step = std::max(step, mla_step);
    }
  }
  if (state == 0 || token == 0) return {};
  StatePages found{.pages = s.runtime->cache.state_pages};
  found.block_tokens = times({divided_up(state, times({step, token})), step});
  found.page_bytes = times({found.block_tokens, token});
  return found;
}

}  // namespace headroom::model
