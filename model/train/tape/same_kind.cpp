// Layers that keep the same tensors are of one kind, which is recorded once.
#include <optional>

#include "model/train/tape/layer_use.hpp"

namespace headroom::model {
namespace {

bool same(const std::optional<NormSpec>& a, const std::optional<NormSpec>& b) {
  if (a.has_value() != b.has_value()) return false;
  return !a || (a->kind == b->kind && a->width == b->width);
}
bool same(const std::optional<AttentionUse>& a, const std::optional<AttentionUse>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return true;
  return a->heads == b->heads && a->kv_heads == b->kv_heads && a->head_dim == b->head_dim &&
         a->window == b->window && a->hidden == b->hidden && a->query_rank == b->query_rank &&
         a->key_rank == b->key_rank && a->rotated_by == b->rotated_by &&
         a->reuses_keys == b->reuses_keys && a->values_are_keys == b->values_are_keys &&
         a->compressed.has_value() == b->compressed.has_value() &&
         (!a->compressed || a->compressed->rate == b->compressed->rate) &&
         same(a->query_norm, b->query_norm);
}
bool same(const std::optional<FeedForwardUse>& a, const std::optional<FeedForwardUse>& b) {
  if (a.has_value() != b.has_value()) return false;
  if (!a) return true;
  if (a->experts.has_value() != b->experts.has_value()) return false;
  return a->hidden == b->hidden && a->inner == b->inner && a->gating == b->gating &&
         a->one_matrix == b->one_matrix &&
         (!a->experts || a->experts->experts == b->experts->experts);
}

}  // namespace

bool same_kind(const LayerUse& a, const LayerUse& b) {
  return a.class_name == b.class_name && a.residuals_before == b.residuals_before &&
         a.residuals_after == b.residuals_after && same(a.before_layer, b.before_layer) &&
         same(a.cross_attention, b.cross_attention) &&
         same(a.before_attention, b.before_attention) &&
         same(a.before_feed_forward, b.before_feed_forward) && same(a.attention, b.attention) &&
         same(a.feed_forward, b.feed_forward) && a.hashed.has_value() == b.hashed.has_value() &&
         a.parallel_experts.has_value() == b.parallel_experts.has_value() &&
         a.layer_input.has_value() == b.layer_input.has_value() &&
         a.mixer.has_value() == b.mixer.has_value();
}

}  // namespace headroom::model
