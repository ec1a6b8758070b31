// A layer's parts put together, and what modules outside layers are.
#include "model/describe/layer_spec.hpp"

#include <algorithm>

#include "model/describe/layers/known_names.hpp"
#include "model/describe/layers/read.hpp"

namespace headroom::model {
namespace {

using layers::Subtree;

/// True if a layer of the same stack has a bias by distance. All layers of the stack then add it.
bool biased_by_distance(const Part& part, std::string_view block) {
  const std::string_view stack = block.substr(0, block.rfind('.'));
  return std::ranges::any_of(part.tensors, [&](const Tensor& t) {
    return t.name.starts_with(stack) && is_distance_bias(t);
  });
}

/// Scores by distance, from a table of the stack that all layers share. A layer without projections
/// of its own for the table makes both kinds of scores, as all published ones do.
void read_distances(const Part& part, std::string_view block, const Subtree& tree,
                    AttentionSpec& a) {
  const std::string_view layers = block.substr(0, block.rfind('.'));
  const std::string stack(layers.substr(0, layers.rfind('.') + 1));
  if (!tree.has({"attention.self.query_proj"})) return;
  for (const Tensor& t : part.tensors)
    if (t.name == stack + "rel_embeddings.weight") a.distances = t.shape.front();
  const bool with_queries = tree.has({"attention.self.pos_key_proj"});
  const bool with_keys = tree.has({"attention.self.pos_query_proj"});
  a.query_distances = with_queries || !with_keys;
  a.key_distances = with_keys || !with_queries;
  for (const Module& m : part.modules)
    if (m.path == stack + "LayerNorm") a.norms_distances = true;
}

const Module* attention_of(const Subtree& tree) {
  if (const Module* m =
          tree.module({"self_attn", "attn.attention", "attn", "attention", "self_attention",
                       "layer.0.SelfAttention", "norm_attn_norm.attn"}))
    return m;
  if (tree.has({"mixer.q_proj"})) return tree.module({"mixer"});
  return tree.module_of_class({"Attention"});
}

/// A mixer that has the name of attention.
const Module* mixer_as_attention(const Subtree& tree) {
  const bool mixes = tree.has({"self_attn.forget_gate", "self_attn.output_gate",
                               "self_attn.linear_attn", "self_attn.f_a_proj", "self_attn.f_proj",
                               "attention.f_proj", "attention.receptance"});
  return mixes ? tree.module({"self_attn", "attention"}) : nullptr;
}

const Module* feed_forward_of(const Subtree& tree) {
  const Module* m = tree.module({"residual_mlp", "mlp", "feed_forward", "block_sparse_moe.mlp",
                                 "block_sparse_moe", "ffn", "moe", "layer.1.DenseReluDense",
                                 "layer.2.DenseReluDense"});
  if (m == nullptr && tree.has({"mixer.up_proj", "mixer.experts"})) m = tree.module({"mixer"});
  return m != nullptr && m->class_name == "Linear" ? nullptr : m;
}

std::optional<FeedForwardSpec> whole_feed_forward(const Subtree& tree, const LayerQuirks& quirks) {
  std::optional<FeedForwardSpec> all;
  if (const Module* m = feed_forward_of(tree))
    all = layers::read_feed_forward(Subtree(tree, *m), quirks);
  else if (tree.has({"fc1", "intermediate.dense", "ffn"}))
    all = layers::read_feed_forward(tree, quirks);
  const Module* extra = tree.module({"shared_mlp"});  // Granite: with experts, or alone
  if (extra == nullptr) return all;
  const FeedForwardSpec shared = layers::read_feed_forward(Subtree(tree, *extra), quirks);
  if (!all || !all->experts) return shared;
  all->experts->shared_inner = shared.inner;
  all->experts->shared_fused = true;
  return all;
}

std::optional<ParallelExperts> parallel_experts(const Subtree& tree, const LayerQuirks& quirks) {
  const Module* mixture = tree.module({"block_sparse_moe", "moe"});
  if (mixture != nullptr && tree.has({"residual_mlp", "mlp"})) {
    const bool early = tree.has({"residual_mlp"});  // Arctic
    return ParallelExperts{.experts = layers::read_feed_forward(Subtree(tree, *mixture), quirks),
                           .reads = early ? ExpertsRead::layer_input : ExpertsRead::normed,
                           .before = early ? tree.norm({"post_attention_layernorm"}) : std::nullopt,
                           .after = std::nullopt,
                           .after_dense = std::nullopt};
  }
  if (!tree.has({"experts"}) || !tree.has({"mlp"})) return std::nullopt;
  return ParallelExperts{.experts = layers::read_feed_forward(tree, quirks),
                         .before = tree.norm({"pre_feedforward_layernorm_2"}),
                         .after = tree.norm({"post_feedforward_layernorm_2"}),
                         .after_dense = tree.norm({"post_feedforward_layernorm_1"})};
}

std::optional<LayerInputSpec> layer_input(const Subtree& tree) {
  const Size width = tree.outputs({"per_layer_input_gate"});
  if (width == 0) return std::nullopt;
  const Module* act = tree.module({"act_fn"});
  return LayerInputSpec{.width = width,
                        .activation = act == nullptr ? ActivationKind::input
                                                     : layers::activation_kind(act->class_name),
                        .after = tree.norm({"post_per_layer_input_norm"})};
}

/// Width of what the first half reads.
Size width_of(const Subtree& tree) {
  return tree.inputs({"self_attn.q_a_proj", "self_attn.q_proj", "linear_attn.in_proj_qkv"});
}

Parallel parallel_of(const Subtree& tree, const LayerSpec& layer, Parallel stated) {
  if (layer.before_attention && !layer.before_feed_forward && layer.feed_forward && layer.attention)
    return Parallel::yes;
  // Falcon with a norm of its own before each half is always parallel.
  return stated == Parallel::by_config && tree.has({"ln_mlp"}) ? Parallel::yes : stated;
}

/// The layer at `path`, without what follows in it.
LayerSpec spec_of(const Part& part, std::string_view path) {
  const Subtree whole(part, path);
  const Module* inner = whole.module({"albert_layers.0"});  // a group of one layer
  const Subtree tree = inner != nullptr ? Subtree(whole, *inner) : whole;
  const LayerQuirks& quirks = whole.quirks();
  LayerSpec layer;
  layer.class_name = tree.class_name();
  layers::read_norms(tree, layer);
  layer.norms_the_sum = quirks.norms_the_sum;
  layer.residuals_before = quirks.residuals_before;
  layer.residuals_after = quirks.residuals_after;
  if (const Module* mixer = mixer_as_attention(tree)) {
    layer.mixer = layers::read_mixer(Subtree(tree, *mixer), quirks.mixer);
  } else if (const Module* m = attention_of(tree)) {
    layer.attention = layers::read_attention(Subtree(tree, *m), quirks.attention);
    read_distances(part, path, tree, *layer.attention);
    if (biased_by_distance(part, path)) {
      layer.attention->biased_scores = true;
      layer.attention->causal = tree.cache(CacheKind::self_attention) != nullptr;
    }
  }
  if (const Module* m = tree.module({"encoder_attn", "layer.1.EncDecAttention"}))
    layer.cross_attention = layers::read_attention(Subtree(tree, *m), quirks.attention);
  layer.feed_forward = whole_feed_forward(tree, quirks);
  layer.parallel_experts = parallel_experts(tree, quirks);
  layer.layer_input = layer_input(tree);
  layer.reads_images_alone = tree.has({"cross_attn"}) && !tree.has({"self_attn"});
  layer.scaled = tree.shape("lambda_1") != nullptr;
  layer.drops_attention = quirks.drops_attention;
  layer.streams = layers::read_streams(tree, {"attn_hc", "attn_hyper_connection"}, width_of(tree));
  if (layer.streams) layer.streams->steps = quirks.balancing_steps;
  layer.hashed = layers::read_hashed(tree);
  layer.parallel = parallel_of(tree, layer, quirks.parallel);
  for (const std::string_view name : {"mixer", "mamba", "linear_attn", "conv"})
    if (const Module* m = tree.module({name}); m != nullptr && !layer.mixer)
      layer.mixer = layers::read_mixer(Subtree(tree, *m), quirks.mixer);
  layer.unknown = layers::unknown_module(tree, layer);
  const bool mixes = layer.attention || layer.mixer;
  const bool empty = layer.feed_forward ? layer.feed_forward->inner == 0 : !mixes;
  layer.skipped = tree.tensors().empty();
  if (empty && !layer.skipped && layer.unknown.empty()) layer.unknown = layer.class_name;
  return layer;
}

/// `first` with `next` behind it.
void follow(LayerSpec& first, LayerSpec next) {
  if (first.unknown.empty()) first.unknown = next.unknown;
  first.then.push_back(std::move(next));
}

}  // namespace

LayerSpec layer_spec(const Part& part, Size i) {
  const std::string& path = part.blocks.at(static_cast<std::size_t>(i));
  const Subtree tree(part, path);
  const Module* block = tree.module({"shared_transf", "shared_transformer"});
  const Module* mixer = tree.module({"mamba_decoder"});
  if (block != nullptr && mixer != nullptr) {
    LayerSpec chained = spec_of(part, block->path);
    chained.chained = true;
    chained.class_name = tree.class_name();
    follow(chained, spec_of(part, mixer->path));
    return chained;
  }
  const std::vector<Part> halves = layers::listed_halves(part, tree, path);
  if (halves.empty()) return spec_of(part, path);
  LayerSpec first = spec_of(halves.front(), path);
  for (std::size_t half = 1; half < halves.size(); ++half)
    follow(first, spec_of(halves[half], path));
  return first;
}

std::optional<StreamsSpec> streams_end(const Part& part, Size hidden) {
  constexpr std::string_view joints[] = {"hc_head", "hyper_connection_mixer"};
  for (const Module& m : part.modules) {
    const auto dot = m.path.rfind('.');
    if (dot == std::string::npos) continue;
    const std::string_view path = m.path;
    for (const std::string_view name : joints)
      if (path.substr(dot + 1) == name)
        return layers::read_streams(Subtree(part, path.substr(0, dot)), {name}, hidden);
  }
  return std::nullopt;
}

LayerInputs layer_inputs(const Part& part) {
  LayerInputs found;
  for (const Tensor& t : part.tensors) {
    if (t.name.ends_with("per_layer_model_projection.weight")) found.all = t.shape.front();
    if (t.name.ends_with("per_layer_projection_norm.weight")) found.of_layer = t.shape.front();
  }
  for (const Module& m : part.modules)
    if (m.path.ends_with("per_layer_projection_norm")) found.norm = norm_kind(m);
  return found;
}

NormKind norm_kind(const Module& module) {
  return module.norm.value_or(module.class_name.ends_with("RMSNorm") ? NormKind::rms
                                                                     : NormKind::layer);
}

bool is_linear_unit(const Module& module) {
  return module.class_name.find("LU") != std::string::npos;
}

bool is_pooler(const Module& module) { return module.path.find("pooler") != std::string::npos; }

bool is_norm_of_residuals(const Module& module) {
  return module.path.ends_with("output_attn_res_norm");
}

bool is_norm_of_distances(const Module& module) {
  return module.path == "encoder.LayerNorm" || module.path.ends_with(".encoder.LayerNorm");
}

bool is_merger(std::string_view path) { return path.find("merger") != std::string_view::npos; }

bool is_projector(std::string_view path) {
  return path.find("projector") != std::string_view::npos || is_merger(path) ||
         path.find("connector") != std::string_view::npos;
}

bool is_class_token(const Tensor& tensor) {
  return tensor.name.ends_with("class_embedding") || tensor.name.ends_with("cls_token");
}

bool is_rotary_table(const Tensor& tensor) {
  return tensor.role == Role::buffer && tensor.name.ends_with("inv_freq");
}

bool is_unscaled_rotary_table(const Tensor& tensor) {
  return tensor.name.ends_with("original_inv_freq");
}

bool is_position_table(const Tensor& tensor) { return tensor.name.ends_with("wpe.weight"); }

bool is_distance_bias(const Tensor& tensor) {
  return tensor.role == Role::embedding && tensor.name.ends_with("relative_attention_bias.weight");
}

bool drops_stack(const Module& module) {
  return module.path == "encoder.dropout" || module.path == "decoder.dropout";
}

}  // namespace headroom::model
