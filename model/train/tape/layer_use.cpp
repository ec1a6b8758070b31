#include "model/train/tape/layer_use.hpp"

#include <algorithm>

#include "model/describe/block_finder.hpp"

namespace headroom::model {
namespace {

/// Widths of heads where no cache states them: the config's number of heads, the projections'
/// widths.
void complete_heads(const Model& model, Size heads, AttentionUse& a) {
  if (a.heads == 0) {
    a.heads = heads;
    a.kv_heads = heads == model.shape.query_heads ? model.shape.kv_heads : heads;
    a.head_dim = a.query_width > 0 && a.heads > 0 ? a.query_width / a.heads
                 : a.joined_width > 0             ? a.joined_width / 3 / std::max<Size>(1, a.heads)
                                                  : model.shape.head_dim;
    if (a.reuses_keys)
      a.kv_heads = model.shape.kv_heads;
    else if (a.query_width > 0)
      a.kv_heads = std::max<Size>(1, a.key_width / std::max<Size>(1, a.head_dim));
  }
  a.value_dim = a.head_dim;
}

void complete_latent(const Model& model, AttentionUse& a) {
  if (!a.latent) return;
  a.kv_heads = a.heads = model.shape.query_heads;
  a.head_dim = a.heads > 0 ? a.latent_query_width / a.heads : 0;
  a.value_dim = a.heads > 0 ? a.output_width / a.heads : 0;
}

/// The stack of a layer: the text or a tower.
struct Stack {
  Size heads;   ///< as the config says
  bool tables;  ///< it has rotary tables
};

AttentionUse attention_use(const Model& model, const Execution& execution,
                           const AttentionSpec& spec, const Stack& stack) {
  AttentionUse a{spec};
  const bool rotary = spec.rotation || stack.tables;
  a.rotated_by = execution.linear_positions || !rotary ? Rotation::none
                                                       : spec.rotation.value_or(Rotation::added);
  a.softcap = execution.attention_softcap;
  a.linear_positions = execution.linear_positions;
  if (a.hidden == 0) a.hidden = model.shape.hidden_size;
  complete_heads(model, stack.heads, a);
  a.gate_in_query = !a.fused && a.heads > 0 && a.gated_query_width == 2 * a.heads * a.head_dim;
  a.gated = a.gate_in_query || a.gate_projection;
  if (a.plain_head_norms) a.query_norm = a.key_norm = NormSpec{NormKind::rms_plain, a.head_dim};
  a.norms_by_head = a.query_norm && a.query_norm->width <= a.head_dim;
  if (a.norm_each_head_apart) a.query_norm = a.key_norm = NormSpec{NormKind::layer, a.head_dim};
  complete_latent(model, a);
  if (a.masks_images && model.profile.towers().second > model.profile.towers().first)
    a.always_masked = true;
  if (a.spreads_keys) {
    a.gathered = a.heads != a.kv_heads && a.kv_heads > 1;
    a.shared_key = a.kv_heads == 1 && a.heads > 1;
  }
  if (a.drops_only_alibi) a.drops_probabilities = execution.linear_positions;
  return a;
}

FeedForwardUse feed_forward_use(const Model& model, const Execution& execution,
                                const FeedForwardSpec& spec) {
  FeedForwardUse f{spec};
  if (f.experts) {
    f.hidden = model.shape.hidden_size;
    f.normalised_routing = execution.normalised_routing;
  }
  return f;
}

/// True if the stack of layer `i`, the text or the tower, has rotary tables.
bool has_rotary_tables(const Model& model, const VisionTower* vision, Size i) {
  const std::string_view block = model.part.blocks[static_cast<std::size_t>(i)];
  return std::ranges::any_of(model.part.tensors, [&](const Tensor& t) {
    if (!is_rotary_table(t)) return false;
    const bool of_tower = vision != nullptr && vision->contains(t.name);
    return in_a_tower(model, i) ? of_tower && vision->contains(block) : !of_tower;
  });
}

/// A layer of the text or of a tower as its spec and the config say.
LayerUse use_of(const Model& model, const Execution& execution, const LayerSpec& spec,
                const Stack& stack) {
  LayerUse use{.class_name = spec.class_name,
               .unknown = spec.unknown,
               .skipped = spec.skipped,
               .before_attention = spec.before_attention,
               .after_attention = spec.after_attention,
               .before_feed_forward = spec.before_feed_forward,
               .after_feed_forward = spec.after_feed_forward,
               .before_cross_attention = spec.before_cross_attention,
               .before_layer = spec.before_layer,
               .norms_the_sum = spec.norms_the_sum,
               .chained = spec.chained,
               .residuals_before = spec.residuals_before,
               .residuals_after = spec.residuals_after,
               .parallel = spec.parallel == Parallel::by_config ? execution.parallel_residual
                                                                : spec.parallel == Parallel::yes,
               .drops_attention = spec.drops_attention && execution.hidden_dropout > 0,
               .drops_feed_forward = execution.hidden_dropout > 0,
               .reads_images_alone = spec.reads_images_alone,
               .scaled = spec.scaled};
  if (spec.attention) use.attention = attention_use(model, execution, *spec.attention, stack);
  if (spec.cross_attention)
    use.cross_attention = attention_use(model, execution, *spec.cross_attention, stack);
  if (spec.feed_forward) use.feed_forward = feed_forward_use(model, execution, *spec.feed_forward);
  if (spec.parallel_experts) {
    const ParallelExperts& e = *spec.parallel_experts;
    use.parallel_experts = ParallelExpertsUse{feed_forward_use(model, execution, e.experts),
                                              e.reads, e.before, e.after, e.after_dense};
  }
  use.layer_input = spec.layer_input;
  use.streams = spec.streams, use.hashed = spec.hashed;
  if (spec.mixer) use.mixer = MixerUse{*spec.mixer, model.shape.hidden_size};
  for (const LayerSpec& each : spec.then) use.then.push_back(use_of(model, execution, each, stack));
  return use;
}

/// The caches of a layer, without the layer's path.
std::vector<Cache> caches_of(const Part& part, std::string_view layer) {
  std::vector<Cache> found;
  for (const Cache& each : part.caches)
    if (is_within(each.path, layer)) {
      found.push_back(each);
      found.back().path.erase(0, layer.size());
    }
  return found;
}

}  // namespace

bool repeats_whole(const Model& model, std::size_t layer, std::size_t earlier) {
  if (layer == earlier) return false;
  const Part& part = model.part;
  const TableRange modules = model.profile.repeats.modules(layer);
  const TableRange others = model.profile.repeats.modules(earlier);
  for (std::size_t i = 0; i < modules.size(); ++i) {
    const Module& module = part.modules[modules.first + i];
    const Module& other = part.modules[others.first + i];
    if (module.norm != other.norm || module.quirks != other.quirks) return false;
  }
  return in_a_tower(model, static_cast<Size>(layer)) ==
             in_a_tower(model, static_cast<Size>(earlier)) &&
         caches_of(part, part.blocks[layer]) == caches_of(part, part.blocks[earlier]);
}

LayerUse layer_use(const Model& model, const Execution& execution, const VisionTower* vision,
                   Size i) {
  const Stack stack{in_a_tower(model, i) ? execution.tower_heads : model.shape.query_heads,
                    has_rotary_tables(model, vision, i)};
  return use_of(model, execution, layer_spec(model.part, i), stack);
}

}  // namespace headroom::model
