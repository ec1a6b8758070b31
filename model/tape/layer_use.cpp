#include "model/tape/layer_use.hpp"

#include <algorithm>
#include <initializer_list>

#include "model/tape/layer_rows.hpp"

namespace headroom::model {
namespace {

using Names = std::initializer_list<std::string_view>;

/// The modules and tensors below one path, by their names below it.
class Subtree {
 public:
  Subtree(const Part& part, std::string_view path) : path_(path) {
    const auto inside = [&](std::string_view name) {
      return name.size() > path.size() && name.starts_with(path) && name[path.size()] == '.';
    };
    for (const Module& m : part.modules) {
      if (m.path == path) class_name_ = m.class_name;
      if (inside(m.path)) modules_.push_back(&m);
    }
    for (const Tensor& t : part.tensors)
      if (inside(t.name)) tensors_.push_back(&t);
    for (const Cache& c : part.caches)
      if (c.path == path || inside(c.path)) caches_.push_back(&c);
  }
  Subtree(const Subtree& all, const Module& at) : path_(at.path), class_name_(at.class_name) {
    const auto inside = [&](std::string_view name) {
      return name.size() > path_.size() && name.starts_with(path_) && name[path_.size()] == '.';
    };
    for (const Module* m : all.modules_)
      if (inside(m->path)) modules_.push_back(m);
    for (const Tensor* t : all.tensors_)
      if (inside(t->name)) tensors_.push_back(t);
    for (const Cache* c : all.caches_)
      if (c->path == path_ || inside(c->path)) caches_.push_back(c);
  }
  std::string_view class_name() const { return class_name_; }
  /// Name below this path.
  std::string_view below(std::string_view full) const { return full.substr(path_.size() + 1); }
  /// The first module whose name below is one of `names`.
  const Module* module(Names names) const {
    for (const auto name : names)
      for (const Module* m : modules_)
        if (below(m->path) == name) return m;
    return nullptr;
  }
  const Module* module_of_class(Names endings) const {
    for (const Module* m : modules_)
      for (const auto ending : endings)
        if (std::string_view(m->class_name).ends_with(ending)) return m;
    return nullptr;
  }
  const Shape* shape(std::string_view name) const {
    for (const Tensor* t : tensors_)
      if (below(t->name) == name) return &t->shape;
    return nullptr;
  }
  const Cache* cache(CacheKind kind) const {
    for (const Cache* c : caches_)
      if (c->kind == kind) return c;
    return nullptr;
  }
  const std::vector<const Module*>& modules() const { return modules_; }

  /// Output rows of the linear layer under one of `names`; 0 where there is none. Conv1D lies
  /// transposed.
  Size outputs(Names names) const { return side(names, 0, 1); }
  Size inputs(Names names) const { return side(names, 1, 0); }
  bool has(Names names) const { return module(names) != nullptr; }
  std::optional<NormUse> norm(Names names) const {
    const Module* m = module(names);
    if (m == nullptr) return std::nullopt;
    const Shape* s = shape(std::string(below(m->path)) + ".weight");
    return NormUse{layer_rows::norm_kind(m->class_name), s == nullptr ? 0 : s->front()};
  }

 private:
  Size side(Names names, std::size_t linear, std::size_t conv) const {
    const Module* m = module(names);
    if (m == nullptr) return 0;
    const Shape* s = shape(std::string(below(m->path)) + ".weight");
    if (s == nullptr || s->size() != 2) return 0;
    return (*s)[m->class_name == "Conv1D" ? conv : linear];
  }
  std::string_view path_, class_name_;
  std::vector<const Module*> modules_;
  std::vector<const Tensor*> tensors_;
  std::vector<const Cache*> caches_;
};

std::string_view activation_class(const Subtree& tree) {
  const Module* m =
      tree.module({"act_fn", "act", "activation_fn", "activation", "intermediate_act_fn", "relu2",
                   "gelu_impl", "act_mlp", "intermediate.intermediate_act_fn"});
  return m == nullptr ? std::string_view("SiLUActivation") : std::string_view(m->class_name);
}

void read_heads(const Model& model, const Subtree& tree, AttentionUse& a) {
  const Cache* cache = tree.cache(CacheKind::self_attention);
  if (cache != nullptr && cache->kv_heads > 0 && cache->per_token % (2 * cache->kv_heads) == 0) {
    a.kv_heads = cache->kv_heads;
    a.head_dim = cache->per_token / (2 * cache->kv_heads);
    a.heads = cache->score_dims / (2 * a.head_dim);
    a.window = cache->window;
  } else {
    a.heads = model.shape.query_heads;
    a.kv_heads = model.shape.kv_heads;
    const Size queries = tree.outputs({"q_proj", "query", "q", "self.query"});
    a.head_dim = queries > 0 && a.heads > 0 ? queries / a.heads : model.shape.head_dim;
    if (queries > 0)
      a.kv_heads = std::max<Size>(
          1, tree.outputs({"k_proj", "key", "k", "self.key"}) / std::max<Size>(1, a.head_dim));
  }
  a.value_dim = a.head_dim;
}

AttentionUse attention_use(const Model& model, const Execution& execution, const Subtree& tree,
                           std::string_view family) {
  AttentionUse a;
  const auto row = layer_rows::attention_row(family);
  a.rotation = execution.linear_positions ? Rotation::none : row.rotation;
  a.rotated_in_fp32 = row.fp32_tables;
  a.softmax_fp32 = row.softmax_fp32;
  a.always_scores = row.scores_only || execution.attention_softcap > 0;
  a.softcap = execution.attention_softcap;
  a.hidden = tree.inputs({"q_proj", "query", "q", "self.query", "qkv_proj", "query_key_value",
                          "c_attn", "Wqkv", "q_a_proj", "attn.Wqkv"});
  if (a.hidden == 0) a.hidden = model.shape.hidden_size;
  read_heads(model, tree, a);
  a.fused = tree.has({"qkv_proj", "query_key_value", "c_attn", "Wqkv", "attn.Wqkv"});
  a.query_norm = tree.norm({"q_norm", "q_layernorm", "query_layernorm"});
  a.key_norm = tree.norm({"k_norm", "k_layernorm", "key_layernorm"});
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
  e.inner = (e.clamped ? (*up)[2] : (*up)[1]) / 2;
  for (const Layer& layer : model.profile.layers)
    if (layer.routing.experts == e.experts) e.used = layer.routing.used;
  const Module* router = tree.module({"gate", "router"});
  if (router != nullptr) e.router = layer_rows::router_kind(router->class_name);
  const Module* shared = tree.module({"shared_expert", "shared_experts"});
  if (shared != nullptr) {
    e.shared_inner = tree.outputs({"shared_expert.gate_proj", "shared_experts.gate_proj"});
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
  const Size fused = tree.outputs({"gate_up_proj", "fc1_gate"});
  if (fused > 0) {
    f.gating = Gating::fused;
    f.inner = fused / 2;
    f.hidden = tree.inputs({"gate_up_proj", "fc1_gate"});
    return f;
  }
  if (tree.has({"gate_proj", "wi_0", "w1"}) && tree.has({"up_proj", "wi_1", "w3"})) {
    f.gating = Gating::separate;
    f.inner = tree.outputs({"gate_proj", "wi_0", "w1"});
    f.hidden = tree.inputs({"gate_proj", "wi_0", "w1"});
    f.drops_inner = tree.has({"dropout"}) && tree.has({"wi_0"});
    return f;
  }
  const Names up = {"up_proj", "fc1",   "c_fc", "dense_h_to_4h",     "fc_in", "wi",
                    "lin1",    "dense", "w1",   "intermediate.dense"};
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
                 "attn_norm", "pre_attn_norm", "temporal_pre_norm"});
  use.after_feed_forward = tree.norm(
      {"post_feedforward_layernorm", "post_mlp_layernorm", "post_norm2", "post_ff_layernorm"});
  const bool four = tree.has({"pre_feedforward_layernorm", "pre_mlp_layernorm"});
  const bool after = four || (!use.before_attention && use.after_feed_forward);
  use.after_attention = tree.norm({"post_self_attn_layernorm", "post_attn_norm", "post_norm1"});
  if (after && !use.after_attention) use.after_attention = tree.norm({"post_attention_layernorm"});
  use.before_feed_forward =
      tree.norm({"pre_feedforward_layernorm", "pre_mlp_layernorm", "ln_2", "ln_mlp", "norm_2",
                 "norm2", "ffn_norm", "layer_norm2", "layernorm_after", "pre_ff_layernorm",
                 "mlp_norm", "channel_pre_norm"});
  if (!use.before_feed_forward && !after)
    use.before_feed_forward = tree.norm({"post_attention_layernorm"});
  if (tree.has({"attention.output.LayerNorm"})) {  // BERT and its relatives
    use.before_attention = tree.norm({"attention.output.LayerNorm"});
    use.before_feed_forward = tree.norm({"output.LayerNorm"});
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
  const Subtree tree(model.part, path);
  LayerUse use;
  use.class_name = tree.class_name();
  const std::string_view family = layer_rows::family_of(tree.class_name());
  place_norms(tree, use);
  use.norms_the_sum = layer_rows::norms_the_sum(family);

  const Module* attention =
      tree.module({"self_attn", "attn", "attention", "self_attention", "layer.0.SelfAttention"});
  if (attention == nullptr) attention = tree.module_of_class({"Attention"});
  if (attention != nullptr)
    use.attention = attention_use(model, execution, Subtree(tree, *attention), family);
  if (use.attention && biased_by_distance(model.part, path)) {
    use.attention->biased_scores = true;
    use.attention->causal_mask = tree.cache(CacheKind::self_attention) != nullptr;
  }
  if (const Module* cross = tree.module({"encoder_attn", "layer.1.EncDecAttention"}))
    use.cross_attention = attention_use(model, execution, Subtree(tree, *cross), family);
  const Module* feed_forward = tree.module({"mlp", "feed_forward", "block_sparse_moe", "ffn", "moe",
                                            "layer.1.DenseReluDense", "layer.2.DenseReluDense"});
  if (feed_forward != nullptr)
    use.feed_forward = feed_forward_use(model, execution, Subtree(tree, *feed_forward));
  else if (tree.has({"fc1", "intermediate.dense"}))
    use.feed_forward = feed_forward_use(model, execution, tree);

  use.drops_attention = use.drops_feed_forward = execution.hidden_dropout > 0;
  if (family == "StableLm") use.drops_attention = false;
  if (use.before_attention && !use.before_feed_forward && use.feed_forward && use.attention)
    use.parallel = true;
  else if (family == "GPTNeoX" || (family == "Falcon" && tree.has({"ln_mlp"})))
    use.parallel = execution.parallel_residual || tree.has({"ln_mlp"});
  use.known = use.attention && use.feed_forward && use.feed_forward->inner > 0;
  return use;
}

}  // namespace headroom::model
