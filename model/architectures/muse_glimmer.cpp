// Muse Glimmer: gated attention in windows with norms that hold no weights, behind a tower of its
// own.
#include "model/architectures/composition.hpp"
#include "model/architectures/decoder.hpp"
#include "model/architectures/vision_language_families.hpp"

namespace headroom::model::families {

namespace {

constexpr Classes k{"MuseGlimmer"};

Part tower(const Config& v) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}, 14);
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  const Part layer =
      layer_norm("norm1", width) + layer_norm("norm2", width) +
      in("attn", k("VisionAttention"),
         linear("proj", width, width, Bias::yes) + linear("q_proj", width, width, Bias::yes) +
             linear("k_proj", width, width, Bias::yes) +
             linear("v_proj", width, width, Bias::yes)) +
      in("mlp", k("VisionMLP"),
         linear("fc1", width, inner, Bias::yes) + module("act", act) +
             linear("fc2", inner, width, Bias::yes));
  return in("patch_embedder", k("VisionPatchEmbedder"),
            linear("patch_embedding", times({v.dim({"patch_temporal"}, 2), 3, patch, patch}),
                   width) +
                embedding("position_embedding_table",
                          v.dim({"pos_emb_height"}, 32) * v.dim({"pos_emb_width"}, 32), width)) +
         frequencies("rotary_emb", k("VisionRotaryEmbedding"),
                     width / v.dim({"num_attention_heads"}) / 4) +
         layer_norm("ln_pre", width) +
         stack("layers", k("VisionEncoderLayer"), v.dim({"num_hidden_layers"}),
               [&](Size) { return layer; }) +
         layer_norm("ln_post", width);
}

/// Every fourth layer counted from the last sees the whole context.
Part language(const Config& c) {
  const Common s = common_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size query = s.heads.query * s.heads.dim, window = c.count({"sliding_window"}, 2048);
  const auto types = layer_types(c, s.layers, [&](Size i) {
    return (s.layers - 1 - i) % 4 == 0 ? "full_attention" : "sliding_attention";
  });
  const auto norm = [&](std::string_view name) {
    return rms_norm(name, k("TextCenteredRMSNorm"), s.hidden);
  };
  const auto layer = [&](Size i) {
    return in("self_attn", k("TextAttention"),
              attention(s.hidden, s.heads, bias, bias,
                        window_of(types[static_cast<std::size_t>(i)], window)) +
                  linear("gate_proj", s.hidden, query) + module("qk_norm", k("RMSNorm"))) +
           in("mlp", k("TextMLP"), gated_mlp(s.hidden, s.inner, s.act)) + norm("input_layernorm") +
           norm("post_attention_layernorm") + norm("pre_feedforward_layernorm") +
           norm("post_feedforward_layernorm");
  };
  return unsplittable(in("embed_tokens", k("TextNormedEmbedding"),
                         tensor("weight", {c.dim({"vocab_size"}), s.hidden}, Role::embedding) +
                             module("embed_norm", k("RMSNorm"))) +
                          stack("layers", k("TextDecoderLayer"), s.layers, layer) +
                          rms_norm("norm", k("RMSNorm"), s.hidden) +
                          rotary(k("TextRotaryEmbedding"), rotated_if_scaled(c, s.heads.dim)),
                      {k("TextDecoderLayer")});
}

}  // namespace

/// Source: transformers 5.23, models/muse_glimmer/modeling_muse_glimmer.py.
Part muse_glimmer(const Config& c) {
  const Config text = section_of(c, "text_config", "muse_glimmer_text");
  const Config v = section_of(c, "vision_config", "muse_glimmer_vision");
  const Size between = c.dim({"projector_hidden_size"}, 4096);
  Part body = in("model", k("Model"),
                 in("vision_tower", k("VisionModel"), tower(v)) +
                     in("language_model", k("TextModel"), language(text)) +
                     in("vision_adapter", k("VisionAdapter"),
                        linear("fc1", c.dim({"out_hidden_size"}, 6144), between) +
                            module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
                            linear("fc2", between, between)) +
                     linear("vision_projection", between, text.dim({"hidden_size"})) +
                     module("perception_emb_norm", k("RMSNorm")));
  return with_language_head(with_unsplittable(std::move(body), {k("VisionEncoderLayer")}), text,
                            head_is_tied(c, text, false, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families
