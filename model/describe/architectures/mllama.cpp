// Llama 3.2 Vision. Some layers of the text model attend only to the image. The vision transformer
// has local layers and gated global layers over tiles.
#include <algorithm>
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::mllama {

Part vision_encoder(std::string_view name, const Config& v, Size layers, bool gated) {
  const Size width = v.dim({"hidden_size"}), inner = v.dim({"intermediate_size"});
  const std::string act = activation_class(v, {"hidden_act"}, "gelu");
  return in(name, "MllamaVisionEncoder", stack("layers", "MllamaVisionEncoderLayer", layers, [&] {
              Part gates = gated ? tensor("gate_attn", {1}, Role::other) +
                                       tensor("gate_ffn", {1}, Role::other)
                                 : Part{};
              return std::move(gates) +
                     in("self_attn", "MllamaVisionAttention",
                        linear("q_proj", width, width) + linear("k_proj", width, width) +
                            linear("v_proj", width, width) + linear("o_proj", width, width)) +
                     in("mlp", "MllamaVisionMLP",
                        module("activation_fn", act) + linear("fc1", width, inner, Bias::yes) +
                            linear("fc2", inner, width, Bias::yes)) +
                     layer_norm("input_layernorm", width) +
                     layer_norm("post_attention_layernorm", width);
            }));
}

Part vision_part(const Config& v) {
  const Size width = v.dim({"hidden_size"}), tiles = v.dim({"max_num_tiles"}, 4);
  const Size patch = v.dim({"patch_size"}), positions = patches(v) + 1;
  const auto* given = v.object().if_contains("supported_aspect_ratios");
  // Index 0 is padding, so the table has one row more than aspect ratios. The class has 8 ratios.
  const Size ratios =
      1 + (given && given->is_array() ? static_cast<Size>(given->get_array().size()) : 8);
  const Part tile_positions =
      tensor("gate", {1}, Role::other) + embedding("embedding", ratios, tiles * width);
  return tensor("class_embedding", {width}, Role::other) +
         convolution("patch_embedding", "Conv2d",
                     {width, v.dim({"num_channels"}, 3), patch, patch}) +
         in("gated_positional_embedding", "MllamaPrecomputedPositionEmbedding",
            tensor("gate", {1}, Role::other) +
                tensor("embedding", {positions, width}, Role::embedding) +
                embedding("tile_embedding", ratios, times({tiles, positions, width}))) +
         in("pre_tile_positional_embedding", "MllamaPrecomputedAspectRatioEmbedding",
            tile_positions) +
         in("post_tile_positional_embedding", "MllamaPrecomputedAspectRatioEmbedding",
            tile_positions) +
         layer_norm("layernorm_pre", width) + layer_norm("layernorm_post", width) +
         vision_encoder("transformer", v, v.dim({"num_hidden_layers"}), false) +
         vision_encoder("global_transformer", v, v.dim({"num_global_layers"}), true);
}

Part text_part(const Config& t) {
  const Size hidden = t.dim({"hidden_size"}), vocab = t.dim({"vocab_size"});
  const Heads heads = heads_of(t);
  const std::string_view norm = "MllamaTextRMSNorm";
  std::vector<Size> crossing = t.dims({"cross_attention_layers"});
  if (!t.has("cross_attention_layers")) crossing = {3, 8, 13, 18, 23, 28, 33, 38};
  const auto crosses = [&](Size i) {
    return std::find(crossing.begin(), crossing.end(), i) != crossing.end();
  };
  const Part mlp = in(
      "mlp", "MllamaTextMLP",
      gated_mlp(hidden, t.dim({"intermediate_size"}), activation_class(t, {"hidden_act"}, "silu")));
  const auto layer = [&](Size i) {
    Part attended = attention(hidden, heads);
    if (!crosses(i))
      return in("self_attn", "MllamaTextSelfAttention", std::move(attended)) + mlp +
             rms_norm("input_layernorm", norm, hidden) +
             rms_norm("post_attention_layernorm", norm, hidden);
    attended.caches[0].kind = CacheKind::cross_attention;
    return tensor("cross_attn_attn_gate", {1}, Role::other) +
           tensor("cross_attn_mlp_gate", {1}, Role::other) +
           in("cross_attn", "MllamaTextCrossAttention",
              std::move(attended) + rms_norm("q_norm", norm, heads.dim) +
                  rms_norm("k_norm", norm, heads.dim)) +
           rms_norm("input_layernorm", norm, hidden) + mlp +
           rms_norm("post_attention_layernorm", norm, hidden);
  };
  Part layers = mixed_stack(
      "layers", t.dim({"num_hidden_layers"}),
      [&](Size i) {
        return crosses(i) ? "MllamaCrossAttentionDecoderLayer" : "MllamaSelfAttentionDecoderLayer";
      },
      layer);
  // The image tokens take eight rows more than the vocabulary.
  return embedding("embed_tokens", vocab + 8, hidden) + std::move(layers) +
         rms_norm("norm", norm, hidden) + rotary("MllamaRotaryEmbedding", heads.dim);
}

/// Source: transformers 5.23, models/mllama/modeling_mllama.py.
Part mllama(const Config& c) {
  const Config text = section_of(c, "text_config", "mllama_text_model");
  const Config v = section_of(c, "vision_config", "mllama_vision_model");
  Part p = in("model", "MllamaModel",
              in("vision_model", "MllamaVisionModel", vision_part(v)) +
                  in("language_model", "MllamaTextModel", text_part(text)) +
                  linear("multi_modal_projector", v.dim({"vision_output_dim"}),
                         text.dim({"hidden_size"}), Bias::yes)) +
           output_head("lm_head", text.dim({"hidden_size"}), text.dim({"vocab_size"}));
  return unsplittable(std::move(p), {"MllamaVisionEncoderLayer", "MllamaCrossAttentionDecoderLayer",
                                     "MllamaSelfAttentionDecoderLayer"});
}

/// The text model alone, which may take the whole's config. Its head is never tied to the
/// embedding.
Part mllama_text(const Config& whole) {
  const Config c =
      whole.has("text_config") ? section_of(whole, "text_config", "mllama_text_model") : whole;
  return unsplittable(in("model", "MllamaTextModel", text_part(c)) +
                          output_head("lm_head", c.dim({"hidden_size"}), c.dim({"vocab_size"})),
                      {"MllamaVisionEncoderLayer", "MllamaCrossAttentionDecoderLayer",
                       "MllamaSelfAttentionDecoderLayer"});
}

}  // namespace headroom::model::families::mllama
