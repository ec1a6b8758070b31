// dots3-note. Multi-head latent attention has gated heads. It is sparse in some layers and limited
// to a window in the others. The last layers of the vision tower are mixtures of growing size.
// Audio has a separate encoder.
#include <algorithm>
#include <map>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::dots3_note {

const Classes k{"Dots3Note"};

Part norm(std::string_view name, Size dim) { return rms_norm(name, k("RMSNorm"), dim); }

// ---- text ---------------------------------------------------------------------------------------

std::string kind_of(const Config& c, Size i) {
  const auto types = c.texts({"layer_types"});
  const bool sparse = c.flag({"use_dsa"}, true);
  if (types.empty()) {
    const bool all = !c.flag({"use_sliding_window"}, true);
    if (!all && i >= 2 && i % 4 != 1) return "sliding_attention";
    return sparse ? "indexed_attention" : "full_attention";
  }
  const std::string& type = layer_type(c, types, i);
  if (c.has("use_dsa") || !c.has("per_layer_config"))
    if (type != "sliding_attention") return sparse ? "indexed_attention" : "full_attention";
  return type;
}

/// The sizes of layer `i`. Its entry in per_layer_config decides. Without per_layer_config, sliding
/// layers use the swa_ keys of published files. Other layers use the sizes for all layers.
Latent latent_of_layer(const Config& c, Size i, const std::string& kind) {
  Latent a = latent_of(c);
  if (c.has("per_layer_config")) {
    const Config own = layer_section(c, i);
    return {.heads = own.dim({"num_attention_heads"}, a.heads),
            .query_rank = own.dim({"q_lora_rank"}, a.query_rank),
            .rank = own.dim({"kv_lora_rank"}, a.rank),
            .nope = own.dim({"qk_nope_head_dim"}, a.nope),
            .rope = own.dim({"qk_rope_head_dim"}, a.rope),
            .value = own.dim({"v_head_dim"}, a.value)};
  }
  if (kind != "sliding_attention") return a;
  const Size dim = c.dim({"swa_head_dim"}, 256), nope = c.dim({"swa_qk_nope_head_dim"}, 192);
  return {.heads = c.dim({"swa_num_attention_heads"}, 64),
          .query_rank = c.dim({"swa_q_lora_rank"}, 1024),
          .rank = c.dim({"swa_kv_lora_rank"}, 1024),
          .nope = nope,
          .rope = c.dim({"swa_qk_rope_head_dim"}, dim - nope),
          .value = c.dim({"swa_v_head_dim"}, 128)};
}

Part attention_of(const Config& c, Size i) {
  const Size hidden = c.dim({"hidden_size"});
  const std::string kind = kind_of(c, i);
  const Latent a = latent_of_layer(c, i, kind);
  if (a.query_rank == 0) c.fail("q_lora_rank", "found none, expected a rank");
  Part p = latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false)) +
           norm("k_rope_only_layernorm", a.rope) + linear("g_proj", hidden, a.heads);
  if (kind == "sliding_attention")
    p.caches[0].window = c.dim({"sliding_window", "sliding_window_size"}, 512);
  if (kind != "indexed_attention") return p;
  return picked(std::move(p), c) + indexer(c, k("TextIndexer"), hidden, a.query_rank);
}

Part mixture(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Routing r = routing_of(c, {"n_routed_experts", "num_local_experts"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Size shared =
      c.count({"shared_experts_intermediate_size", "moe_shared_expert_intermediate_size"}, 1536);
  return in("mlp", k("TextMoE"),
            fused_experts(k("Experts"), hidden, inner, r, act) +
                corrected_router("gate", k("TextTopkRouter"), hidden, r.experts) +
                in("shared_experts", k("TextMLP"),
                   gated_mlp(hidden, shared * c.count({"n_shared_experts"}, 1), act)));
}

Part rotary_tables(const Config& c, Size layers) {
  std::map<std::string, Size> rotated;
  for (Size i = 0; i < layers; ++i) {
    const std::string kind = kind_of(c, i);
    rotated.emplace(kind, latent_of_layer(c, i, kind).rope);
  }
  Part tables;
  for (const auto& [kind, dims] : rotated)
    tables = std::move(tables) + buffer(kind + "_inv_freq", {(dims + 1) / 2}) +
             buffer(kind + "_original_inv_freq", {(dims + 1) / 2});
  return in("rotary_emb", k("TextRotaryEmbedding"), std::move(tables));
}

Part text_body(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const Part dense = in(
      "mlp", k("TextMLP"),
      gated_mlp(hidden, c.dim({"intermediate_size"}), activation_class(c, {"hidden_act"}, "silu")));
  const Part routed_part = mixture(c);
  return embedding("embed_tokens", c.dim({"vocab_size"}), hidden) +
         stack("layers", k("TextDecoderLayer"), layers,
               [&](Size i) {
                 return in("self_attn", k("TextAttention"), attention_of(c, i)) +
                        (is_sparse(c, i, 1) ? routed_part : dense) +
                        norm("input_layernorm", hidden) + norm("post_attention_layernorm", hidden);
               }) +
         norm("norm", hidden) + rotary_tables(c, layers);
}

// ---- towers -------------------------------------------------------------------------------------

Part vision_mixture(const Config& v, Size i) {
  const Size width = v.dim({"hidden_size"}), experts = v.dim({"num_local_experts"});
  const Size own = layer_section(v, i).dim({"num_local_experts"}, experts);
  const Routing r{own, std::min(own, v.dim({"num_experts_per_tok"}, 2))};
  return in("mlp", k("VisionMoE"),
            buffer("e_score_correction_bias", {own}, Element::floating, true) +
                fused_experts(k("Experts"), width, v.dim({"moe_intermediate_size"}), r,
                              activation_class(v, {"hidden_act"}, "silu")) +
                router("gate", k("VisionTopKRouter"), width, own));
}

Submodel vision_tower(const Config& v) {
  const Size width = v.dim({"hidden_size"}), dim = width / v.dim({"num_attention_heads"});
  const Size out = v.dim({"adapter_out_dim"}, 5120), side = v.dim({"adapter_merge_size"}, 2);
  const Size patch = v.dim({"patch_size"}, 14),
             wide = times({v.dim({"adapter_in_dim"}, width), side, side});
  const Bias bias = v.bias({"attention_bias"}, false), mlp_bias = v.bias({"mlp_bias"}, false);
  const std::string act = activation_class(v, {"hidden_act"}, "silu");
  const auto types = v.texts({"mlp_layer_types"});
  const Part dense =
      in("mlp", k("VisionMLP"), gated_mlp(width, v.dim({"intermediate_size"}), act, mlp_bias));
  Part p =
      in("patch_embed", k("VisionPatchEmbed"),
         convolution("proj", "Conv2d", {width, v.dim({"num_channels"}, 3), patch, patch},
                     Bias::yes) +
             norm("norm", width)) +
      frequencies("rotary_pos_emb", k("VisionRotaryEmbedding"), (dim / 2 + 1) / 2) +
      stack("blocks", k("VisionBlock"), v.dim({"num_hidden_layers"}),
            [&](Size i) {
              const bool sparse = layer_type(v, types, i, "mlp_layer_types") == "sparse";
              return norm("norm1", width) +
                     in("attn", k("VisionAttention"),
                        linear("qkv", width, 3 * width, bias) + linear("proj", width, width, bias) +
                            norm("q_norm", dim) + norm("k_norm", dim)) +
                     norm("norm2", width) + (sparse ? vision_mixture(v, i) : dense);
            }) +
      in("merger", k("VisionMerger"),
         layer_norm("ln_q", v.dim({"adapter_in_dim"}, width)) +
             in("mlp", "Sequential",
                linear("0", wide, wide, Bias::yes) + module("1", "GELU") +
                    linear("2", wide, out, Bias::yes))) +
      norm("norm", width);
  return {k("VisionModel"), unsplittable(std::move(p), {k("VisionBlock")}), out};
}

Submodel audio_tower(const Config& a) {
  const Size width = a.dim({"hidden_size"}), inner = a.dim({"intermediate_size"});
  const Size heads = a.dim({"num_attention_heads"}), dim = width / heads;
  const Size stem = a.dim({"downsample_hidden_size"}, 480), out = a.dim({"adapter_out_dim"}, 5120);
  const Size bins = (a.dim({"feature_size"}, 128) + 7) / 8;
  const Bias bias = a.bias({"attention_bias"}, true);
  const std::string act = activation_class(a, {"hidden_act"}, "silu");
  Part convolutions;
  for (Size i = 0; i < 3; ++i)
    convolutions =
        std::move(convolutions) +
        convolution(std::to_string(i), "Conv2d", {stem, i == 0 ? 1 : stem, 3, 3}, Bias::yes);
  const Part layer =
      in("self_attn", k("AudioAttention"),
         linear("q_proj", width, width, bias) + linear("k_proj", width, width) +
             linear("v_proj", width, width, bias) + linear("o_proj", width, width, bias)) +
      norm("input_layernorm", width) +
      in("mlp", k("AudioMLP"),
         linear("gate_up_proj", width, 2 * inner, Bias::yes) +
             linear("down_proj", inner, width, Bias::yes) + module("activation_fn", act)) +
      norm("post_attention_layernorm", width) + dropout("resid_attn_dropout") +
      dropout("resid_mlp_dropout");
  Part p = in("conv_stem", k("AudioConvStem"),
              in("convs", "ModuleList", std::move(convolutions)) +
                  linear("conv_out", stem * bins, width)) +
           frequencies("rotary_embedding", k("AudioRotaryEmbedding"),
                       (rotated_dims(a, dim, 0.5) + 1) / 2) +
           stack("layers", k("AudioLayer"), a.dim({"num_hidden_layers"}), [&] { return layer; }) +
           norm("layer_norm", width) +
           in("adapter", k("AudioAdapter"),
              layer_norm("norm", width) + linear("fc1", width, out, Bias::yes) +
                  module("activation", "GELUActivation") + linear("fc2", out, out, Bias::yes));
  return {k("AudioModel"), unsplittable(std::move(p), {k("AudioLayer")}), out};
}

/// Source: transformers 5.23, models/dots3_note/{configuration,modeling}_dots3_note.py.
Part dots3_note_text(const Config& c) {
  return with_unsplittable(causal_lm(c, k("TextModel"), text_body(c)),
                           {k("AudioLayer"), k("TextDecoderLayer"), k("VisionBlock")});
}

Part dots3_note(const Config& c) {
  const Config text = section_of(c, "text_config", "dots3_note_text");
  const Submodel vision = vision_tower(section_of(c, "vision_config", "dots3_note_vision_encoder"));
  const Submodel audio = audio_tower(section_of(c, "audio_config", "dots3_note_audio_encoder"));
  Part body = in("model", k("Model"),
                 in("language_model", k("TextModel"), text_body(text)) + vision.as("vision_tower") +
                     audio.as("audio_tower"));
  return with_language_head(with_unsplittable(std::move(body), {k("TextDecoderLayer")}), text,
                            head_is_tied(c, text, false, Inherit::no),
                            "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::dots3_note
