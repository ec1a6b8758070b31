// The text model of Gemma 4: sliding layers and wider full-attention layers, keys and values shared
// by the last layers, embeddings per layer, and an optional mixture beside the feed-forward.
#include <boost/json.hpp>

#include "model/architectures/composition.hpp"
#include "model/architectures/vision_language_families.hpp"

namespace headroom::model::families {

namespace {

constexpr std::string_view norm_class = "Gemma4RMSNorm";

Part scaled_embedding(std::string_view name, Size rows, Size dim) {
  return in(name, "Gemma4TextScaledWordEmbedding",
            tensor("weight", {rows, dim}, Role::embedding) + buffer("embed_scale", {}));
}
Part norm(std::string_view name, Size dim) { return rms_norm(name, norm_class, dim); }

class TextModel {
 public:
  explicit TextModel(const Config& c)
      : c_(c),
        hidden_(c.dim({"hidden_size"})),
        layers_(c.dim({"num_hidden_layers"})),
        per_layer_(c.count({"hidden_size_per_layer_input"}, 256)),
        act_(activation_class(c, {"hidden_activation"}, "gelu_pytorch_tanh")),
        types_(c.texts({"layer_types"})) {
    // The last layer is a full one whatever the list says.
    if (!types_.empty()) types_.back() = "full_attention";
    if (!types_.empty() && static_cast<Size>(types_.size()) != layers_)
      c.fail("layer_types", "expected one entry for each layer");
  }

  Part body() const {
    Part p = scaled_embedding("embed_tokens", c_.dim({"vocab_size"}), hidden_) +
             stack("layers", "Gemma4TextDecoderLayer", layers_, [&](Size i) { return layer(i); }) +
             norm("norm", hidden_) + rotary_tables();
    if (per_layer_ > 0)
      p = std::move(p) +
          scaled_embedding("embed_tokens_per_layer", c_.dim({"vocab_size_per_layer_input"}, 262144),
                           layers_ * per_layer_) +
          linear("per_layer_model_projection", hidden_, layers_ * per_layer_) +
          norm("per_layer_projection_norm", per_layer_);
    return p;
  }

 private:
  bool is_full(Size i) const {
    if (types_.empty()) return (i + 1) % 6 == 0 || i + 1 == layers_;
    return types_[static_cast<std::size_t>(i)] == "full_attention";
  }
  /// The last layers use the keys and values of an earlier one.
  bool reuses_cache(Size i) const { return i >= layers_ - c_.count({"num_kv_shared_layers"}, 0); }
  Size sliding_dim() const { return c_.dim({"head_dim"}, 256); }
  Size full_dim() const {
    // Files written by transformers 5 keep the wider heads per layer, keyed by layer number.
    const Config each = c_.section_or_empty("per_layer_config");
    for (const auto& [key, value] : each.object())
      if (value.is_object()) return each.section(key).dim({"head_dim"}, sliding_dim());
    return c_.dim({"global_head_dim"}, 512);
  }
  Size full_kv_heads(Size kv_heads) const {
    const Config each = c_.section_or_empty("per_layer_config");
    for (const auto& [key, value] : each.object())
      if (value.is_object()) return each.section(key).dim({"num_key_value_heads"}, kv_heads);
    return keys_are_values() ? c_.dim({"num_global_key_value_heads"}, kv_heads) : kv_heads;
  }
  bool keys_are_values() const { return c_.flag({"attention_k_eq_v"}, false); }

  Part attention_of(Size i) const {
    const Bias bias = c_.bias({"attention_bias"}, false);
    const Size kv_heads = c_.dim({"num_key_value_heads"}, 4);
    const Heads heads{c_.dim({"num_attention_heads"}),
                      is_full(i) ? full_kv_heads(kv_heads) : kv_heads,
                      is_full(i) ? full_dim() : sliding_dim()};
    Part p = linear("q_proj", hidden_, heads.query * heads.dim, bias) + norm("q_norm", heads.dim);
    if (!reuses_cache(i)) {
      p = std::move(p) + norm("k_norm", heads.dim) + module("v_norm", norm_class) +
          linear("k_proj", hidden_, heads.kv * heads.dim, bias);
      if (!is_full(i) || !keys_are_values())
        p = std::move(p) + linear("v_proj", hidden_, heads.kv * heads.dim, bias);
      p.caches = {kv_cache(heads, is_full(i) ? 0 : c_.count({"sliding_window"}, 512))};
    }
    return std::move(p) + linear("o_proj", heads.query * heads.dim, hidden_, bias);
  }

  Part mixture() const {
    const Routing r{c_.dim({"num_experts"}), c_.dim({"top_k_experts"})};
    const Size inner = c_.dim({"moe_intermediate_size", "expert_intermediate_size"});
    return in("router", "Gemma4TextRouter",
              tensor("scale", {hidden_}, Role::other) +
                  tensor("per_expert_scale", {r.experts}, Role::other) +
                  module("norm", norm_class) + linear("proj", hidden_, r.experts)) +
           in("experts", "Gemma4TextExperts",
              routed(tensor("gate_up_proj", {r.experts, 2 * inner, hidden_}, Role::matmul) +
                         tensor("down_proj", {r.experts, hidden_, inner}, Role::matmul),
                     r) +
                  module("act_fn", act_)) +
           norm("post_feedforward_layernorm_1", hidden_) +
           norm("post_feedforward_layernorm_2", hidden_) +
           norm("pre_feedforward_layernorm_2", hidden_);
  }

  Part layer(Size i) const {
    const bool wide = reuses_cache(i) && c_.flag({"use_double_wide_mlp"}, false);
    const Size inner = c_.dim({"intermediate_size"}) * (wide ? 2 : 1);
    Part p = buffer("layer_scalar", {1}, Element::floating, true) +
             in("self_attn", "Gemma4TextAttention", attention_of(i)) +
             in("mlp", "Gemma4TextMLP", gated_mlp(hidden_, inner, act_)) +
             norm("input_layernorm", hidden_) + norm("post_attention_layernorm", hidden_) +
             norm("pre_feedforward_layernorm", hidden_) +
             norm("post_feedforward_layernorm", hidden_);
    if (per_layer_ > 0)
      p = std::move(p) + module("act_fn", act_) +
          linear("per_layer_input_gate", hidden_, per_layer_) +
          linear("per_layer_projection", per_layer_, hidden_) +
          norm("post_per_layer_input_norm", hidden_);
    return c_.flag({"enable_moe_block"}, false) ? std::move(p) + mixture() : p;
  }

  /// Both tables cover whole heads: the partial rotation of full layers pads with zeros.
  Part rotary_tables() const {
    const Size full = full_dim() / 2, sliding = sliding_dim() / 2;
    return in("rotary_emb", "Gemma4TextRotaryEmbedding",
              buffer("full_attention_inv_freq", {full}) +
                  buffer("full_attention_original_inv_freq", {full}) +
                  buffer("sliding_attention_inv_freq", {sliding}) +
                  buffer("sliding_attention_original_inv_freq", {sliding}));
  }

  const Config& c_;
  Size hidden_, layers_, per_layer_;
  std::string act_;
  std::vector<std::string> types_;
};

}  // namespace

/// Source: transformers 5.23, models/gemma4/modeling_gemma4.py, configuration_gemma4.py.
Part gemma4_text(const Config& c) {
  Part p = in("model", "Gemma4TextModel", TextModel(c).body());
  p.no_split = {"Gemma4TextDecoderLayer", "Gemma4VisionEncoderLayer", "Gemma4VisionPatchEmbedder",
                "Gemma4AudioLayer"};
  return with_language_head(std::move(p), c, head_is_tied(c, c, true, Inherit::no),
                            "model.embed_tokens.weight");
}

}  // namespace headroom::model::families
