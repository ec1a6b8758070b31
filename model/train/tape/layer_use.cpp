#include "model/train/tape/layer_use.hpp"

#include <algorithm>

#include "model/train/tape/layer_rows.hpp"
#include "model/train/tape/mixer_use.hpp"
#include "model/train/tape/subtree.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {
namespace {

std::string_view activation_class(const Subtree& tree) {
  const Module* m =
      tree.module({"act_fn", "act", "activation_fn", "activation", "intermediate_act_fn", "relu2",
                   "gelu_impl", "act_mlp", "intermediate.intermediate_act_fn"});
  return m == nullptr ? std::string_view("SiLUActivation") : std::string_view(m->class_name);
}

void read_heads(const Model& model, const Subtree& tree, Size heads, AttentionUse& a) {
  const Cache* cache = tree.cache(CacheKind::self_attention);
  if (cache != nullptr && cache->kv_heads > 0 && cache->per_token % (2 * cache->kv_heads) == 0) {
    a.kv_heads = cache->kv_heads;
    a.head_dim = cache->per_token / (2 * cache->kv_heads);
    a.heads = cache->score_dims / (2 * a.head_dim);
    a.window = cache->window;
  } else {
    a.heads = heads;
    a.kv_heads = heads == model.shape.query_heads ? model.shape.kv_heads : heads;
    const Size queries = tree.outputs({"q_proj", "query", "q", "self.query", "q_lin"});
    const Size all = tree.outputs({"qkv"});
    a.head_dim = queries > 0 && a.heads > 0 ? queries / a.heads
                 : all > 0                  ? all / 3 / std::max<Size>(1, a.heads)
                                            : model.shape.head_dim;
    if (queries > 0)
      a.kv_heads = std::max<Size>(1, tree.outputs({"k_proj", "key", "k", "self.key", "k_lin"}) /
                                         std::max<Size>(1, a.head_dim));
  }
  a.value_dim = a.head_dim;
}

AttentionUse attention_use(const Model& model, const Execution& execution, const Subtree& tree,
                           std::string_view family, bool rotary, Size heads) {
  AttentionUse a;
  const auto row = layer_rows::attention_row(family);
  a.rotation = execution.linear_positions || !rotary ? Rotation::none : row.rotation;
  a.rotated_in_fp32 = row.fp32_tables;
  a.own_tables = row.own_tables;
  a.tables_by_token = row.tables_by_token;
  a.norms_rotated = row.norms_rotated;
  a.joined = tree.has({"qkv"});
  a.softmax_fp32 = row.softmax_fp32;
  a.always_scores = row.scores_only || execution.attention_softcap > 0;
  a.softcap = execution.attention_softcap;
  a.hidden = tree.inputs({"q_proj", "query", "q", "self.query", "qkv_proj", "query_key_value",
                          "c_attn", "Wqkv", "q_a_proj", "attn.Wqkv", "qkv", "q_lin"});
  if (a.hidden == 0) a.hidden = model.shape.hidden_size;
  read_heads(model, tree, heads, a);
  a.fused = tree.has({"qkv_proj", "query_key_value", "c_attn", "Wqkv", "attn.Wqkv", "qkv"});
  a.inner_norm = tree.norm({"attn_sub_norm"});
  a.gate_in_query = !a.fused && a.heads > 0 && tree.outputs({"q_proj"}) == 2 * a.heads * a.head_dim;
  a.gated = a.gate_in_query || tree.has({"gate_proj"});
  a.query_norm = tree.norm({"q_norm", "q_layernorm", "query_layernorm"});
  a.key_norm = tree.norm({"k_norm", "k_layernorm", "key_layernorm"});
  if (tree.has({"qk_norm"})) a.query_norm = a.key_norm = NormUse{NormKind::rms_plain, a.head_dim};
  a.norms_by_head = a.query_norm && a.query_norm->width <= a.head_dim;
  if (tree.has({"q_layernorm.norms"})) {
    a.norm_each_head_apart = true;
    a.query_norm = a.key_norm = NormUse{NormKind::layer, a.head_dim};
  }
  a.sinks = tree.shape("sinks") != nullptr;
  if (const Cache* latent = tree.cache(CacheKind::latent)) {
    a.kv_heads = a.heads = model.shape.query_heads;
    a.query_rank = tree.outputs({"q_a_proj"});
    a.latent_norm = tree.norm({"kv_a_layernorm"});
    a.key_rank = a.latent_norm ? a.latent_norm->width : 0;
    a.rotated_key = tree.outputs({"kv_a_proj_with_mqa"}) - a.key_rank;
    const Size queries = tree.outputs({"q_proj", "q_b_proj"});
    a.head_dim = a.heads > 0 ? queries / a.heads : 0;
    a.value_dim = a.heads > 0 ? tree.inputs({"o_proj"}) / a.heads : 0;
    a.window = latent->window;
  }
  // Tokens of an image see each other: an explicit mask, whatever the sequence.
  if (family == "Gemma3" && model.profile.towers().second > model.profile.towers().first)
    a.always_masked = true;
  if (family == "Falcon") {
    a.drops_probabilities = execution.linear_positions;
    a.gathered = a.heads != a.kv_heads && a.kv_heads > 1;
    a.shared_key = a.kv_heads == 1 && a.heads > 1;
    a.always_masked = true;
    // The decoder of the 40B stands keys and values beside each group of queries even with as many.
    if (execution.linear_positions) a.always_masked = true;
  }
  return a;
}

std::optional<ExpertsUse> experts_use(const Model& model, const Execution& execution,
                                      const Subtree& tree) {
  const Module* experts = tree.module({"experts"});
  if (experts == nullptr) return std::nullopt;
  const Shape* up = tree.shape("experts.gate_up_proj");
  const Shape* down = tree.shape("experts.down_proj");
  if (up == nullptr || down == nullptr || up->size() != 3) return std::nullopt;
  ExpertsUse e;
  e.experts = (*up)[0];
  e.clamped = tree.shape("experts.gate_up_proj_bias") != nullptr;
  const Module* shared = tree.module({"shared_expert", "shared_experts", "shared_mlp"});
  const Module* router = tree.module({"gate", "router", "router.gate"});
  e.all_tokens = router != nullptr && router->class_name.starts_with("Llama4");
  e.inner = (e.clamped || e.all_tokens ? (*up)[2] : (*up)[1]) / 2;
  for (const Layer& layer : model.profile.layers)
    if (layer.routing.experts == e.experts) e.used = layer.routing.used;
  if (router != nullptr)
    e.router = layer_rows::router_kind(router->class_name == "Linear" ? experts->class_name
                                                                      : router->class_name);
  if (shared != nullptr) {
    e.shared_inner = tree.outputs(
        {"shared_expert.gate_proj", "shared_experts.gate_proj", "shared_mlp.gate_proj"});
    e.shared_gate = tree.has({"shared_expert_gate"});
  }
  const std::string_view router_class = router == nullptr ? std::string_view{} : router->class_name;
  e.normalised = execution.normalised_routing;
  e.converted = !router_class.starts_with("Mixtral") && !router_class.starts_with("MiniMax");
  return e;
}

FeedForwardUse feed_forward_use(const Model& model, const Execution& execution,
                                const Subtree& tree) {
  FeedForwardUse f;
  f.activation = layer_rows::activation_kind(activation_class(tree));
  if (auto experts = experts_use(model, execution, tree)) {
    f.experts = experts;
    f.hidden = model.shape.hidden_size;
    f.gating = Gating::separate;
    f.inner = experts->inner;
    const Module* act = tree.module({"experts.act_fn"});
    if (act != nullptr) f.activation = layer_rows::activation_kind(act->class_name);
    return f;
  }
  const Names both = {"gate_up_proj", "fc1_gate", "Wi", "input_linear"};
  if (const Size fused = tree.outputs(both); fused > 0) {
    f.gating = Gating::fused;
    f.inner = fused / 2;
    f.hidden = tree.inputs(both);
    return f;
  }
  if (tree.has({"gate_proj", "wi_0", "w1"}) && tree.has({"up_proj", "wi_1", "w3"})) {
    f.gating = Gating::separate;
    f.inner = tree.outputs({"gate_proj", "wi_0", "w1"});
    f.hidden = tree.inputs({"gate_proj", "wi_0", "w1"});
    f.drops_inner = tree.has({"dropout"}) && tree.has({"wi_0"});
    f.inner_norm = tree.norm({"ffn_sub_norm"});
    return f;
  }
  const Names up = {"up_proj", "fc1",   "c_fc", "dense_h_to_4h",      "fc_in",      "wi",
                    "lin1",    "dense", "w1",   "intermediate.dense", "linear_fc1", "ffn"};
  f.inner = tree.outputs(up);
  f.hidden = tree.inputs(up);
  f.drops_inner = tree.has({"dropout"}) && tree.has({"wi"});
  const Module* m = tree.module(up);
  f.bias_added = m != nullptr && m->class_name == "FalconLinear" &&
                 tree.shape(std::string(tree.below(m->path)) + ".bias") != nullptr;
  return f;
}

void place_norms(const Subtree& tree, LayerUse& use) {
  use.before_attention =
      tree.norm({"input_layernorm", "ln_1", "ln_attn", "norm_1", "norm1", "attention_norm",
                 "operator_norm", "layer_norm1", "layernorm_before", "pre_attention_layernorm",
                 "attn_norm", "pre_attn_norm", "temporal_pre_norm", "attention_layernorm"});
  if (tree.has({"mixer"})) {  // one norm before whatever the mixer is (Mamba, Nemotron-H)
    use.before_attention = use.before_feed_forward = tree.norm({"norm"});
    return;
  }
  use.after_feed_forward = tree.norm(
      {"post_feedforward_layernorm", "post_mlp_layernorm", "post_norm2", "post_ff_layernorm"});
  const bool four = tree.has({"pre_feedforward_layernorm", "pre_mlp_layernorm"});
  const bool after = four || (!use.before_attention && use.after_feed_forward);
  use.after_attention = tree.norm({"post_self_attn_layernorm", "post_attn_norm", "post_norm1"});
  if (after && !use.after_attention) use.after_attention = tree.norm({"post_attention_layernorm"});
  use.before_feed_forward =
      tree.norm({"pre_feedforward_layernorm", "pre_mlp_layernorm", "ln_2", "ln_mlp", "norm_2",
                 "norm2", "ffn_norm", "layer_norm2", "layernorm_after", "pre_ff_layernorm",
                 "mlp_norm", "channel_pre_norm", "feedforward_layernorm"});
  if (!use.before_feed_forward && !after)
    use.before_feed_forward = tree.norm({"post_attention_layernorm"});
  if (tree.has({"attention.output.LayerNorm"})) {  // BERT and its relatives
    use.before_attention = tree.norm({"attention.output.LayerNorm"});
    use.before_feed_forward = tree.norm({"output.LayerNorm"});
  }
  if (tree.has({"attention.LayerNorm"})) {  // ALBERT, MPNet
    use.before_attention = tree.norm({"attention.LayerNorm"});
    use.before_feed_forward = tree.norm({"full_layer_layer_norm", "output.LayerNorm"});
  }
  if (tree.has({"sa_layer_norm"})) {  // DistilBERT
    use.before_attention = tree.norm({"sa_layer_norm"});
    use.before_feed_forward = tree.norm({"output_layer_norm"});
  }
  if (tree.has({"self_attn_layer_norm"})) {  // BART and its relatives
    use.before_attention = tree.norm({"self_attn_layer_norm"});
    use.before_feed_forward = tree.norm({"final_layer_norm"});
    use.before_cross_attention = tree.norm({"encoder_attn_layer_norm"});
  }
  if (tree.has({"layer.0.layer_norm"})) {  // T5 and its relatives: a layer of layers
    const bool crosses = tree.has({"layer.2.layer_norm"});
    use.before_attention = tree.norm({"layer.0.layer_norm"});
    if (crosses) use.before_cross_attention = tree.norm({"layer.1.layer_norm"});
    use.before_feed_forward = tree.norm({crosses ? "layer.2.layer_norm" : "layer.1.layer_norm"});
  }
}

/// Whether the stack that layer `i` belongs to, the text or the tower, has rotary tables.
bool rotates(const Model& model, std::string_view block, Size i) {
  const auto vision = vision_tower(model);
  return std::any_of(model.part.tensors.begin(), model.part.tensors.end(), [&](const Tensor& t) {
    if (t.role != Role::buffer || !t.name.ends_with("inv_freq")) return false;
    const bool of_tower = vision && vision->contains(t.name);
    return in_a_tower(model, i) ? of_tower && vision->contains(block) : !of_tower;
  });
}

/// Whether a layer of the same stack has a bias by distance, which all of them then add.
bool biased_by_distance(const Part& part, std::string_view block) {
  const std::string_view stack = block.substr(0, block.rfind('.'));
  return std::any_of(part.tensors.begin(), part.tensors.end(), [&](const Tensor& t) {
    return t.name.starts_with(stack) && t.name.ends_with("relative_attention_bias.weight");
  });
}

}  // namespace

LayerUse layer_use(const Model& model, const Execution& execution, Size i) {
  const std::string& path = model.part.blocks.at(static_cast<std::size_t>(i));
  const Subtree whole(model.part, path);
  const Module* inner = whole.module({"albert_layers.0"});  // a group of one layer
  const Subtree tree = inner != nullptr ? Subtree(whole, *inner) : whole;
  LayerUse use;
  use.class_name = tree.class_name();
  const std::string_view family = layer_rows::family_of(tree.class_name());
  place_norms(tree, use);
  use.norms_the_sum = layer_rows::norms_the_sum(family);

  const Module* attention =
      tree.module({"self_attn", "attn", "attention", "self_attention", "layer.0.SelfAttention"});
  if (attention == nullptr && tree.has({"mixer.q_proj"})) attention = tree.module({"mixer"});
  if (attention == nullptr) attention = tree.module_of_class({"Attention"});
  const Size heads = in_a_tower(model, i) ? execution.tower_heads : model.shape.query_heads;
  const auto attention_of = [&](const Module& m) {
    return attention_use(model, execution, Subtree(tree, m), family,
                         layer_rows::listed(family) || rotates(model, path, i), heads);
  };
  if (attention != nullptr) use.attention = attention_of(*attention);
  if (use.attention && biased_by_distance(model.part, path)) {
    use.attention->biased_scores = true;
    use.attention->causal_mask = tree.cache(CacheKind::self_attention) != nullptr;
  }
  if (const Module* cross = tree.module({"encoder_attn", "layer.1.EncDecAttention"}))
    use.cross_attention = attention_of(*cross);
  const Module* feed_forward = tree.module({"mlp", "feed_forward", "block_sparse_moe", "ffn", "moe",
                                            "layer.1.DenseReluDense", "layer.2.DenseReluDense"});
  if (feed_forward == nullptr && tree.has({"mixer.up_proj"})) feed_forward = tree.module({"mixer"});
  if (feed_forward != nullptr && feed_forward->class_name == "Linear") feed_forward = nullptr;
  if (feed_forward != nullptr)
    use.feed_forward = feed_forward_use(model, execution, Subtree(tree, *feed_forward));
  else if (tree.has({"fc1", "intermediate.dense", "ffn"}))
    use.feed_forward = feed_forward_use(model, execution, tree);
  if (const Module* beside = tree.module({"shared_mlp"})) {  // Granite: beside its experts or alone
    const FeedForwardUse shared = feed_forward_use(model, execution, Subtree(tree, *beside));
    if (use.feed_forward && use.feed_forward->experts) {
      use.feed_forward->experts->shared_inner = shared.inner;
      use.feed_forward->experts->shared_fused = true;
    } else {
      use.feed_forward = shared;
    }
  }
  use.scaled = tree.shape("lambda_1") != nullptr;

  use.drops_attention = use.drops_feed_forward = execution.hidden_dropout > 0;
  if (family == "StableLm") use.drops_attention = false;
  if (use.before_attention && !use.before_feed_forward && use.feed_forward && use.attention)
    use.parallel = true;
  else if (family == "GPTNeoX" || (family == "Falcon" && tree.has({"ln_mlp"})))
    use.parallel = execution.parallel_residual || tree.has({"ln_mlp"});
  for (const std::string_view name : {"mixer", "mamba", "linear_attn", "conv"})
    if (const Module* m = tree.module({name}); m != nullptr && !use.mixer)
      use.mixer = mixer_use(model, Subtree(tree, *m));
  use.unknown = unknown_module(tree, use.mixer.has_value());
  const bool mixes = use.attention || use.mixer;
  if ((!mixes && !use.feed_forward) || (use.feed_forward && use.feed_forward->inner == 0))
    if (use.unknown.empty()) use.unknown = use.class_name;
  return use;
}

}  // namespace headroom::model
