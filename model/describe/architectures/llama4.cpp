// Llama 4. A token uses one routed and one shared expert. Most layers have chunked attention with
// rotary positions. The other layers have full attention without rotary positions. A vision tower
// reads images.
#include <algorithm>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/decoder.hpp"

namespace headroom::model::families::llama4 {

/// True if layer `i` has rotary positions. no_rope_layers holds 1 for such layers.
bool rotates(const Config& t, Size i) {
  const auto given = t.dims({"no_rope_layers"});
  if (given.empty()) return (i + 1) % t.dim({"no_rope_layer_interval"}, 4) != 0;
  if (static_cast<std::size_t>(i) >= given.size())
    t.fail("no_rope_layers", "expected one entry for each layer");
  return given[static_cast<std::size_t>(i)] != 0;
}

/// The attention span of layer `i` in tokens (0: all tokens). `layer_types` decides. Without it,
/// layers with rotary positions use chunks.
Size chunk_of(const Config& t, Size i) {
  const auto types = t.texts({"layer_types"});
  const bool chunked =
      types.empty() ? rotates(t, i) : layer_type(t, types, i) == "chunked_attention";
  return chunked ? t.dim_or_none({"attention_chunk_size"}, 8192) : 0;
}

bool is_mixture(const Config& t, Size i) {
  const auto given = t.dims({"moe_layers"});
  if (t.has("moe_layers")) return std::find(given.begin(), given.end(), i) != given.end();
  return (i + 1) % t.dim({"interleave_moe_layer_step"}, 1) == 0;
}

Part llama4_mlp(Size hidden, Size inner, std::string_view act) {
  return linear("gate_proj", hidden, inner) + linear("up_proj", hidden, inner) +
         linear("down_proj", inner, hidden) + module("activation_fn", act);
}

Part text_rows(const Config& t) {
  const Size hidden = t.dim({"hidden_size"}), inner = t.dim({"intermediate_size"});
  const Heads heads = heads_of(t);
  const Bias bias = t.bias({"attention_bias"}, false);
  const std::string act = activation_class(t, {"hidden_act"}, "silu");
  const Routing r{t.dim({"num_local_experts"}, 16), t.dim({"num_experts_per_tok"}, 1)};
  const Part mixture =
      in("experts", "Llama4TextExperts",
         routed(tensor("gate_up_proj", {r.experts, hidden, 2 * inner}, Role::matmul) +
                    tensor("down_proj", {r.experts, inner, hidden}, Role::matmul),
                r) +
             module("act_fn", act)) +
      in("router", "Llama4Router", tensor("weight", {r.experts, hidden}, Role::matmul)) +
      in("shared_expert", "Llama4TextMLP", llama4_mlp(hidden, inner, act));
  const auto layer = [&](Size i) {
    Part attended = attention(hidden, heads, bias, bias, chunk_of(t, i));
    if (rotates(t, i) && t.flag({"use_qk_norm"}, true))
      attended = std::move(attended) + module("qk_norm", "Llama4TextL2Norm");
    return in("self_attn", "Llama4TextAttention", std::move(attended)) +
           (is_mixture(t, i)
                ? in("feed_forward", "Llama4TextMoe", mixture)
                : in("feed_forward", "Llama4TextMLP",
                     llama4_mlp(hidden, t.dim({"intermediate_size_mlp"}, 16384), act))) +
           rms_norm("input_layernorm", "Llama4TextRMSNorm", hidden) +
           rms_norm("post_attention_layernorm", "Llama4TextRMSNorm", hidden);
  };
  Part p =
      with_norm(with_norm(with_quirks(in("model", "Llama4TextModel",
                                         embedding("embed_tokens", t.dim({"vocab_size"}), hidden) +
                                             stack("layers", "Llama4TextDecoderLayer",
                                                   t.dim({"num_hidden_layers"}), layer) +
                                             rms_norm("norm", "Llama4TextRMSNorm", hidden) +
                                             rotary("Llama4TextRotaryEmbedding", heads.dim)) +
                                          output_head("lm_head", hidden, t.dim({"vocab_size"})),
                                      {.attention = {.rotation = Rotation::widened,
                                                     .norms_rotated = true,
                                                     .no_flash_package = true},
                                       .router = {.all_tokens = true}}),
                          "Llama4TextRMSNorm", NormKind::rms_late),
                "Llama4TextL2Norm", NormKind::rms_plain);
  return t.flag({"tie_word_embeddings"}, false)
             ? tied(std::move(p), "lm_head.weight", "model.embed_tokens.weight")
             : p;
}

Part vision_rows(const Config& v) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const Size patch = v.dim({"patch_size"}), positions = patches(v) + 1;
  const Size out = v.dim({"projector_output_dim"});
  const Size head_dim = width / v.dim({"num_attention_heads"});
  return tensor("class_embedding", {width}, Role::other) +
         tensor("positional_embedding_vlm", {positions, width}, Role::embedding) +
         in("patch_embedding", "Llama4UnfoldConvolution",
            module("unfold", "Unfold") +
                linear("linear", times({v.dim({"num_channels"}, 3), patch, patch}), width)) +
         in("rotary_embedding", "Llama4VisionRotaryEmbedding",
            buffer("freqs_ci", {positions, 1, head_dim / 2}, Element::complex64)) +
         layer_norm("layernorm_pre", width) + layer_norm("layernorm_post", width) +
         in("model", "Llama4VisionEncoder",
            stack("layers", "Llama4VisionEncoderLayer", v.dim({"num_hidden_layers"}),
                  [&] {
                    return in("self_attn", "Llama4VisionAttention",
                              linear("q_proj", width, width, Bias::yes) +
                                  linear("k_proj", width, width, Bias::yes) +
                                  linear("v_proj", width, width, Bias::yes) +
                                  linear("o_proj", width, width, Bias::yes)) +
                           in("mlp", "Llama4VisionMLP",
                              module("activation_fn", "GELU") +
                                  linear("fc1", width, inner, Bias::yes) +
                                  linear("fc2", inner, width, Bias::yes)) +
                           layer_norm("input_layernorm", width) +
                           layer_norm("post_attention_layernorm", width);
                  })) +
         in("vision_adapter", "Llama4VisionPixelShuffleMLP",
            in("mlp", "Llama4VisionMLP2",
               linear("fc1", inner, v.dim({"projector_input_dim"})) + linear("fc2", out, out) +
                   module("activation_fn", "GELU")));
}

/// Source: transformers 5.23, models/llama4/modeling_llama4.py.
Part llama4_text(const Config& c) { return unsplittable(text_rows(c), {"Llama4TextDecoderLayer"}); }

Part llama4(const Config& c) {
  const Config text = section_of(c, "text_config", "llama4_text");
  const Config v = section_of(c, "vision_config", "llama4_vision_model");
  return unsplittable(
      in("vision_model", "Llama4VisionModel", vision_rows(v)) +
          in("multi_modal_projector", "Llama4MultiModalProjector",
             linear("linear_1", v.dim({"vision_output_dim"}), text.dim({"hidden_size"}))) +
          in("language_model", "Llama4ForCausalLM", owners_at(text_rows(text), "language_model")),
      {"Llama4TextDecoderLayer", "Llama4VisionEncoderLayer"});
}

}  // namespace headroom::model::families::llama4
