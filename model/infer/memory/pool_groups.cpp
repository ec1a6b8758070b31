#include "model/infer/memory/pool_groups.hpp"

#include <algorithm>
#include <vector>

#include "model/infer/scenario/draft.hpp"

namespace headroom::model {
namespace {

const std::vector<CacheClass>& caches_of(const QuantisedModel& weights) {
  return weights.model->profile.caches;
}

/// Compressed entries, and an indexer's pooled keys, have a pool of another form.
bool has_groups(const QuantisedModel& weights) { return !weights.model->profile.pooled; }

/// Whose layers share the pool with the scenario's own; null: none.
const QuantisedModel* partner(const Scenario& s) {
  const QuantisedModel* other = s.pool_partner;
  if (other == nullptr && s.draft != nullptr) other = s.draft->weights;
  if (other == nullptr || !has_groups(*s.weights) || !has_groups(*other)) return nullptr;
  return other;
}

/// Layers of a kind that take part in the pool of pages.
bool is_paged(const CacheClass& c, const StatePages& states) {
  if (c.kind == CacheKind::recurrent) return states.block_tokens > 0;
  return c.kind != CacheKind::indexer && c.kind != CacheKind::waiting && c.layers > 0;
}

bool same_kind(const CacheClass& a, const CacheClass& b) {
  return a.kind == b.kind && a.window == b.window && a.kv_heads == b.kv_heads &&
         a.per_token_before.back() * b.layers == b.per_token_before.back() * a.layers &&
         a.state_before.back() * b.layers == b.state_before.back() * a.layers;
}

Size layers_like(const QuantisedModel* weights, const CacheClass& c) {
  Size count = 0;
  if (weights != nullptr)
    for (const CacheClass& each : caches_of(*weights))
      if (each.layers > 0 && same_kind(each, c)) count += each.layers;
  return count;
}

StatePages pages_of_pool(const Scenario& s, Size shards) {
  if (s.pool_partner == nullptr) return state_pages(s, shards);
  Scenario model = s;
  model.weights = s.pool_partner;
  return state_pages(model, shards);
}

}  // namespace

PoolGroups::PoolGroups(const Scenario& s, Size shards)
    : scenario_(&s), states_(pages_of_pool(s, shards)) {
  if (s.runtime->cache.windows != Windows::hybrid_kv_pool) return;
  Size fewest = 0, most = 0, window = -1;
  bool alike = true;
  const auto add = [&](const QuantisedModel* weights) {
    if (weights == nullptr) return;
    for (const CacheClass& c : caches_of(*weights)) {
      if (!is_paged(c, states_)) continue;
      constexpr Size no_window = -2;  // for a state
      const Size own = c.kind == CacheKind::recurrent ? no_window : c.window;
      alike = alike && (window == -1 || window == own);
      window = own;
      const Size all = layers(c).real;
      fewest = fewest == 0 ? all : std::min(fewest, all);
      most = std::max(most, all);
    }
  };
  add(s.weights);
  add(partner(s));
  if (alike) return;
  const bool nearly_equal =
      static_cast<double>(most) < static_cast<double>(fewest) * s.runtime->cache.group_padding;
  group_ = nearly_equal ? most : fewest;
}

PoolGroups::Layers PoolGroups::layers(const CacheClass& c) const {
  const Size real = layers_like(scenario_->weights, c) + layers_like(partner(*scenario_), c);
  if (group_ == 0 || !is_paged(c, states_)) return {real, real};
  return {real, round_up(real, group_)};
}

}  // namespace headroom::model
