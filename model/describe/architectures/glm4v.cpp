// GLM's vision-language models: a vision transformer, and GLM-4 text models, dense or mixtures. The
// transformer has gated feed-forwards. A convolution merges its patches.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/decoder.hpp"

namespace headroom::model::families::glm4v {

/// Differences between the models. Source: transformers 5.23, models/glm4v, models/glm4v_moe,
/// models/glm_ocr.
struct Style {
  std::string name;      ///< prefix of the tower's classes
  std::string_view mlp;  ///< class of its feed-forward
  bool positions;        ///< learned positions and a norm after the patches
  bool wide_blocks;      ///< blocks use out_hidden_size as their inner width
};

Part tower(const Config& v, const Style& s) {
  const Size width = v.dim({"hidden_size"}), out = v.dim({"out_hidden_size"});
  const Size heads = v.dim({"num_heads"}), merge = v.dim({"spatial_merge_size"}, 2);
  const auto [patch_height, patch_width] = pair_of(v, "patch_size", 14);
  const Size inner = s.wide_blocks ? out : v.dim({"intermediate_size"});
  // GLM-OCR's merger is in_channels (three) times as wide as its output. The other models use
  // intermediate_size.
  const Size context =
      s.wide_blocks ? v.dim({"intermediate_size"}) : v.dim({"in_channels"}, 3) * out;
  const bool full = !s.wide_blocks;  // GLM-OCR: biases and norms on heads
  const Bias qkv = v.bias({"attention_bias"}, full), rest = full ? qkv : Bias::no;
  const std::string norm = s.name + "RMSNorm";
  const std::string act = activation_class(v, {"hidden_act"}, "silu");
  Part p;
  if (s.positions)
    p = in("embeddings", s.name + "VisionEmbeddings",
           embedding("position_embedding", patches(v), width));
  p = std::move(p) +
      in("patch_embed", s.name + "VisionPatchEmbed",
         convolution("proj", "Conv3d",
                     {width, v.dim({"in_channels"}, 3), v.dim({"temporal_patch_size"}, 2),
                      patch_height, patch_width},
                     Bias::yes)) +
      frequencies("rotary_pos_emb", s.name + "VisionRotaryEmbedding", width / heads / 4) +
      stack("blocks", s.name + "VisionBlock", v.dim({"depth"}),
            [&] {
              Part attention =
                  linear("qkv", width, 3 * width, qkv) + linear("proj", width, width, rest);
              if (full)
                attention = std::move(attention) + rms_norm("q_norm", norm, width / heads) +
                            rms_norm("k_norm", norm, width / heads);
              return rms_norm("norm1", norm, width) + rms_norm("norm2", norm, width) +
                     in("attn", s.name + "VisionAttention", std::move(attention)) +
                     in("mlp", s.mlp, gated_mlp(width, inner, act, rest));
            }) +
      in("merger", s.name + "VisionPatchMerger",
         linear("proj", out, out) + layer_norm("post_projection_norm", out) +
             linear("gate_proj", out, context) + linear("up_proj", out, context) +
             linear("down_proj", context, out) + module("act1", "GELU") + module("act_fn", act));
  if (s.positions) p = std::move(p) + rms_norm("post_conv_layernorm", norm, width);
  return std::move(p) + convolution("downsample", "Conv2d", {out, width, merge, merge}, Bias::yes) +
         rms_norm("post_layernorm", norm, width);
}

/// The dense text models have GLM-4's layer: norms before and after each half, and a fused
/// projection in the feed-forward. GLM-4V rotates as Rotation::concatenated, GLM-OCR in the usual
/// way.
LayerQuirks text_quirks(std::string_view name) {
  return name == "Glm4v" ? LayerQuirks{.attention = {.rotation = Rotation::concatenated}}
                         : LayerQuirks{};
}

Submodel dense_text(const Config& t, const std::string& name, Bias qkv) {
  const Size hidden = t.dim({"hidden_size"}), inner = t.dim({"intermediate_size"});
  Heads heads = heads_of(t);
  const std::string norm = name + "RMSNorm";
  const std::string act = activation_class(t, {"hidden_act"}, "silu");
  const auto layer = [&] {
    return in("self_attn", name + "TextAttention", attention(hidden, heads, qkv)) +
           in("mlp", name + "TextMLP",
              linear("gate_up_proj", hidden, 2 * inner) + linear("down_proj", inner, hidden) +
                  module("activation_fn", act)) +
           rms_norm("input_layernorm", norm, hidden) +
           rms_norm("post_attention_layernorm", norm, hidden) +
           rms_norm("post_self_attn_layernorm", norm, hidden) +
           rms_norm("post_mlp_layernorm", norm, hidden);
  };
  Part p =
      embedding("embed_tokens", t.dim({"vocab_size"}), hidden) +
      with_quirks(stack("layers", name + "TextDecoderLayer", t.dim({"num_hidden_layers"}), layer),
                  text_quirks(name)) +
      rms_norm("norm", norm, hidden) +
      rotary(name + "TextRotaryEmbedding", rotated_dims(t, heads.dim));
  return {name + "TextModel", unsplittable(std::move(p), {name + "TextDecoderLayer"}), hidden};
}

Part glm4v(const Config& c) {
  std::string name = "Glm4v", whole = "Glm4vModel";
  if (c.class_name().starts_with("GlmOcr")) name = "GlmOcr", whole = "GlmOcrModel";
  if (c.class_name().starts_with("Glm4vMoe")) name = "Glm4vMoe", whole = "Glm4vMoeModel";
  const bool separate = c.class_name().starts_with("Glm46V");  // its text section ties nothing
  if (separate) whole = "Glm46VModel";
  const bool ocr = name == "GlmOcr", mixture = name == "Glm4vMoe";
  const std::string type = ocr ? "glm_ocr" : mixture ? "glm4v_moe" : "glm4v";
  const Config text = section_of(c, "text_config", type + "_text");
  const Config v = section_of(c, "vision_config", type + "_vision");
  const Style style{name,
                    ocr       ? "GlmOcrVisionMlp"
                    : mixture ? "Glm4vMoeisionMlp"
                              : "Glm4VisionMlp",
                    !ocr, !ocr};
  Submodel language;
  if (mixture) {
    // If the config gives no head width, it is hidden_size / num_attention_heads, rounded down.
    const Size dim = text.dim({"hidden_size"}) / text.dim({"num_attention_heads"});
    language = text_model(text.with_defaults({{"head_dim", dim}}), "glm4_moe");
    language.part = renamed(std::move(language.part), "Glm4Moe", "Glm4vMoeText");
    for (auto& m : language.part.modules)
      if (m.path == "norm") m.class_name = "Glm4vMoeRMSNorm";
    language.class_name = "Glm4vMoeTextModel";
  } else {
    language = dense_text(text, name, ocr ? Bias::no : Bias::yes);
  }
  Part body =
      in("model", whole,
         in("visual", name + "VisionModel", tower(v, style)) + language.as("language_model"));
  const std::string block = name + "VisionBlock";
  return with_language_head(with_unsplittable(std::move(body), {block}), text,
                            head_is_tied(c, text, false, separate ? Inherit::no : Inherit::yes),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::glm4v
