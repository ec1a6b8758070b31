// The text model of Gemma 4. It has sliding-window layers, and full-attention layers with wider
// heads. The last layers share keys and values. Every layer has embeddings, and an optional mixture
// next to the feed-forward.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::gemma4 {

class TextModel {
 public:
  /// `family`: "Gemma4" or "Gemma4Unified". The latter has no embeddings per layer and no mixtures.
  TextModel(const Config& c, std::string family)
      : c_(c),
        family_(std::move(family)),
        hidden_(c.dim({"hidden_size"})),
        layers_(c.dim({"num_hidden_layers"})),
        per_layer_(family_ == "Gemma4" ? c.count({"hidden_size_per_layer_input"}, 256) : 0),
        act_(activation_class(c, {"hidden_activation"}, "gelu_pytorch_tanh")),
        types_(c.texts({"layer_types"})) {
    // The last layer always has full attention. Its list entry is ignored.
    if (!types_.empty()) types_.back() = "full_attention";
    if (!types_.empty() && static_cast<Size>(types_.size()) != layers_)
      c.fail("layer_types", "expected one entry for each layer");
  }

  Part body() const {
    Part p = scaled_embedding("embed_tokens", c_.dim({"vocab_size"}), hidden_) +
             stack("layers", text("DecoderLayer"), layers_, [&](Size i) { return layer(i); }) +
             norm("norm", hidden_) + rotary_tables();
    if (per_layer_ > 0)
      p = std::move(p) +
          looked_up(scaled_embedding("embed_tokens_per_layer",
                                     c_.dim({"vocab_size_per_layer_input"}, 262144),
                                     layers_ * per_layer_),
                    1) +
          linear("per_layer_model_projection", hidden_, layers_ * per_layer_) +
          norm("per_layer_projection_norm", per_layer_);
    return p;
  }

 private:
  std::string text(std::string_view rest) const { return family_ + "Text" + std::string(rest); }
  Part scaled_embedding(std::string_view name, Size rows, Size dim) const {
    return in(name, text("ScaledWordEmbedding"),
              tensor("weight", {rows, dim}, Role::embedding) + buffer("embed_scale", {}));
  }
  Part norm(std::string_view name, Size dim) const {
    return as_norm(rms_norm(name, family_ + "RMSNorm", dim), NormKind::rms_raised);
  }

  bool is_full(Size i) const {
    if (types_.empty()) return (i + 1) % 6 == 0 || i + 1 == layers_;
    return types_[static_cast<std::size_t>(i)] == "full_attention";
  }
  /// The last layers use the keys and values of an earlier one.
  bool reuses_cache(Size i) const { return i >= layers_ - c_.count({"num_kv_shared_layers"}, 0); }
  Size sliding_dim() const { return c_.dim({"head_dim"}, 256); }
  Size head_dim(Size i) const {
    if (c_.has("per_layer_config")) return layer_section(c_, i).dim({"head_dim"}, sliding_dim());
    return is_full(i) ? c_.dim({"global_head_dim"}, 512) : sliding_dim();
  }
  Size kv_heads(Size i) const {
    const Size usual = c_.dim({"num_key_value_heads"}, 4);
    if (c_.has("per_layer_config")) return layer_section(c_, i).dim({"num_key_value_heads"}, usual);
    return is_full(i) && keys_are_values() ? c_.dim({"num_global_key_value_heads"}, usual) : usual;
  }
  /// The effective window. It is half of the configured one for bidirectional attention.
  Size window() const {
    const Size written = c_.count({"sliding_window"}, 512);
    return c_.text({"use_bidirectional_attention"}, "") == "all" ? written / 2 + 1 : written;
  }
  bool keys_are_values() const { return c_.flag({"attention_k_eq_v"}, false); }

  Part attention_of(Size i) const {
    const Bias bias = c_.bias({"attention_bias"}, false);
    const Heads heads{c_.dim({"num_attention_heads"}), kv_heads(i), head_dim(i)};
    Part p = linear("q_proj", hidden_, heads.query * heads.dim, bias) + norm("q_norm", heads.dim);
    if (!reuses_cache(i)) {
      p = std::move(p) + norm("k_norm", heads.dim) + module("v_norm", family_ + "RMSNorm") +
          linear("k_proj", hidden_, heads.kv * heads.dim, bias);
      if (!is_full(i) || !keys_are_values())
        p = std::move(p) + linear("v_proj", hidden_, heads.kv * heads.dim, bias);
      p.caches = {kv_cache(heads, is_full(i) ? 0 : window())};
    }
    return std::move(p) + linear("o_proj", heads.query * heads.dim, hidden_, bias);
  }

  Part mixture() const {
    const Routing r{c_.dim({"num_experts"}), c_.dim({"top_k_experts"})};
    const Size inner = c_.dim({"moe_intermediate_size", "expert_intermediate_size"});
    return in("router", text("Router"),
              tensor("scale", {hidden_}, Role::other) +
                  tensor("per_expert_scale", {r.experts}, Role::other) +
                  module("norm", family_ + "RMSNorm") + linear("proj", hidden_, r.experts)) +
           fused_experts(text("Experts"), hidden_, inner, r, act_) +
           norm("post_feedforward_layernorm_1", hidden_) +
           norm("post_feedforward_layernorm_2", hidden_) +
           norm("pre_feedforward_layernorm_2", hidden_);
  }

  Part layer(Size i) const {
    const bool wide = reuses_cache(i) && c_.flag({"use_double_wide_mlp"}, false);
    const Size inner = c_.dim({"intermediate_size"}) * (wide ? 2 : 1);
    Part p = buffer("layer_scalar", {1}, Element::floating, true) +
             in("self_attn", text("Attention"), attention_of(i)) +
             in("mlp", text("MLP"), gated_mlp(hidden_, inner, act_)) +
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

  /// Both tables cover whole heads. Full layers rotate only a part of each head, and pad the table
  /// with zeros.
  Part rotary_tables() const {
    Part tables;
    for (const bool full : {true, false})
      for (Size i = 0; i < layers_; ++i) {
        if (is_full(i) != full) continue;
        const std::string kind = full ? "full_attention" : "sliding_attention";
        tables = std::move(tables) + buffer(kind + "_inv_freq", {head_dim(i) / 2}) +
                 buffer(kind + "_original_inv_freq", {head_dim(i) / 2});
        break;
      }
    return in("rotary_emb", text("RotaryEmbedding"), std::move(tables));
  }

  const Config& c_;
  std::string family_;
  Size hidden_, layers_, per_layer_;
  std::string act_;
  std::vector<std::string> types_;
};

/// Source: transformers 5.23, models/gemma4/modeling_gemma4.py, configuration_gemma4.py;
/// models/gemma4_unified.
Part gemma4_text(const Config& c) {
  const std::string family =
      c.class_name().starts_with("Gemma4Unified") ? "Gemma4Unified" : "Gemma4";
  Part p = in("model", family + "TextModel",
              with_quirks(TextModel(c, family).body(), {.router = {.converted = false}}));
  p.no_split = {family + "TextDecoderLayer"};
  if (family == "Gemma4")
    p = with_unsplittable(std::move(p), {"Gemma4VisionEncoderLayer", "Gemma4VisionPatchEmbedder",
                                         "Gemma4AudioLayer"});
  return with_language_head(std::move(p), c, head_is_tied(c, c, true, Inherit::no),
                            "model.embed_tokens.weight");
}

/// Images and audio without towers. Patches and samples are projected directly. Source:
/// transformers 5.23, models/gemma4_unified/modeling_gemma4_unified.py.
Part gemma4_unified(const Config& c) {
  const std::string k = "Gemma4Unified";
  const Config text = section_of(c, "text_config", "gemma4_unified_text");
  const Submodel language = text_model(text);
  const auto embedder = [&](std::string_view name, Size from) {
    return in(name, k + "MultimodalEmbedder",
              linear("embedding_projection", from, language.width) +
                  module("embedding_pre_projection_norm", k + "RMSNorm"));
  };
  Part body = language.as("language_model");
  if (c.has("vision_config")) {
    const Config v = section_of(c, "vision_config", "gemma4_unified_vision");
    const Size side = v.dim({"patch_size"}, 16) * v.dim({"pooling_kernel_size"}, 3);
    const Size pixels = 3 * side * side, width = v.dim({"mm_embed_dim"}, 3840);
    body =
        std::move(body) +
        in("embed_vision", k + "VisionEmbedder",
           tensor("pos_embedding", {v.dim({"mm_posemb_size"}, 1120), 2, width}, Role::embedding) +
               layer_norm("patch_ln1", pixels) + linear("patch_dense", pixels, width, Bias::yes) +
               layer_norm("patch_ln2", width) + layer_norm("pos_norm", width) +
               embedder("multimodal_embedder", v.dim({"output_proj_dims"}, 3840)));
  }
  if (c.has("audio_config"))
    body = std::move(body) +
           embedder(
               "embed_audio",
               section_of(c, "audio_config", "gemma4_unified_audio").dim({"audio_embed_dim"}, 640));
  return with_language_head(in("model", k + "Model", std::move(body)), text,
                            head_is_tied(c, text, true, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::gemma4
