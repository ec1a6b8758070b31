// EmbeddingGemma 2: Gemma 4's layers with bidirectional attention, and Gemma 4's towers. Each layer
// adds a residual signal projected from the embeddings. A last projection has the width of the
// sentence embedding.
#include <algorithm>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families::embedding_gemma2 {

const std::string k = "EmbeddingGemma2", norm = k + "RMSNorm";

std::vector<std::string> kinds(const Config& c, Size layers) {
  auto types = every_nth_full(c, layers, c.dim({"sliding_window_pattern"}, 6));
  types.back() = "full_attention";  // the list's last value is ignored
  return types;
}

/// Full-attention layers have wider heads and fewer KV heads.
Heads heads_at(const Config& c, const std::string& kind, Size i) {
  const Size query = c.dim({"num_attention_heads"});
  const Size kv = c.dim({"num_key_value_heads"}, 2), dim = c.dim({"head_dim"}, 256);
  if (c.has("per_layer_config")) {
    const Config own = layer_section(c, i);
    return {query, own.dim({"num_key_value_heads"}, kv), own.dim({"head_dim"}, dim)};
  }
  if (kind != "full_attention") return {query, kv, dim};
  return {query, c.dim({"num_global_key_value_heads"}, 1), c.dim({"global_head_dim"}, 512)};
}

Part text_body(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size layers = c.dim({"num_hidden_layers"});
  const Size signal = c.dim({"hidden_size_per_layer_input"}, 512);
  const Bias bias = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_activation"}, "gelu_pytorch_tanh");
  const auto types = kinds(c, layers);
  const auto heads = [&](Size i) { return heads_at(c, types[static_cast<std::size_t>(i)], i); };
  const auto layer = [&](Size i) {
    const Heads h = heads(i);
    Part attn = attention(hidden, h, bias, bias) + rms_norm("q_norm", norm, h.dim) +
                rms_norm("k_norm", norm, h.dim) + module("v_norm", norm);
    attn.caches.clear();
    return buffer("layer_scalar", {1}, Element::floating, true) +
           in("self_attn", k + "Attention", std::move(attn)) +
           in("mlp", k + "MLP", gated_mlp(hidden, inner, act)) +
           rms_norm("input_layernorm", norm, hidden) +
           rms_norm("post_attention_layernorm", norm, hidden) +
           rms_norm("pre_feedforward_layernorm", norm, hidden) +
           rms_norm("post_feedforward_layernorm", norm, hidden) +
           in("ple_block", k + "TextPLEBlock",
              module("act_fn", act) + linear("per_layer_input_gate", hidden, signal) +
                  linear("per_layer_projection", signal, hidden) +
                  rms_norm("post_per_layer_input_norm", norm, hidden));
  };
  // Each kind of layer has one table, sized for the heads of the first layer of that kind.
  Part tables;
  const Config ropes = c.section_or_empty("rope_parameters");
  for (const auto& kind : kinds_of(types)) {
    const auto at = std::find(types.begin(), types.end(), kind) - types.begin();
    const Config rope = ropes.section_or_empty(kind);
    const Size dim = heads(at).dim;
    const bool plain = rope.text({"rope_type"}, "default") == "default";
    const Size count = ((plain ? dim : rotated_by(rope, dim, 1.0)) + 1) / 2;
    tables = std::move(tables) + buffer(kind + "_inv_freq", {count}) +
             buffer(kind + "_original_inv_freq", {count});
  }
  return unsplittable(in("embed_tokens", k + "TextScaledWordEmbedding",
                         tensor("weight", {c.dim({"vocab_size"}), hidden}, Role::embedding) +
                             buffer("embed_scale", {})) +
                          stack("layers", k + "EncoderLayer", layers, layer) +
                          rms_norm("norm", norm, hidden) +
                          in("rotary_emb", k + "RotaryEmbedding", std::move(tables)) +
                          in("ple", k + "TextPLE",
                             linear("per_layer_model_projection", hidden, layers * signal) +
                                 rms_norm("per_layer_projection_norm", norm, signal)) +
                          linear("embedding_projection", hidden, c.dim({"embedding_dim"}, 768)),
                      {k + "EncoderLayer"});
}

/// Source: transformers 5.23, models/embedding_gemma2. A model without vision_config or
/// audio_config, or with null there, has no tower for it.
Part embedding_gemma2(const Config& c) {
  if (is_for(c, "TextModel")) return text_body(c);
  const Config text = section_of(c, "text_config", "embedding_gemma2_text");
  const auto embedder = [&](std::string_view name, Size from) {
    return in(name, k + "MultimodalEmbedder",
              linear("embedding_projection", from, text.dim({"hidden_size"})) +
                  module("embedding_pre_projection_norm", norm));
  };
  Part eyes, ears, projections;
  if (c.has("vision_config")) {
    const Submodel tower = gemma4_vision(section_of(c, "vision_config", "gemma4_vision"));
    eyes = tower.as("vision_tower");
    projections = embedder("embed_vision", tower.width);
  }
  if (c.has("audio_config")) {
    const Submodel tower = gemma4_audio(section_of(c, "audio_config", "gemma4_audio"));
    ears = tower.as("audio_tower");
    projections = std::move(projections) + embedder("embed_audio", tower.width);
  }
  Part all = std::move(eyes) + in("language_model", k + "TextModel", text_body(text)) +
             std::move(ears) + std::move(projections);
  if (!c.has("vision_config") && !c.has("audio_config")) return all;
  return with_unsplittable(std::move(all), {"Gemma4TextDecoderLayer", "Gemma4VisionEncoderLayer",
                                            "Gemma4VisionPatchEmbedder", "Gemma4AudioLayer"});
}

}  // namespace headroom::model::families::embedding_gemma2
