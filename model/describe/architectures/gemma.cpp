// Gemma 1 to 3, text models. Embeddings are scaled. Gemma 2 and 3 have norms before and after each
// half, and alternate local and global layers.
#include <fmt/format.h>

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::gemma {

/// An embedding multiplied by a constant. The constant is a buffer.
Part scaled_embedding(std::string_view class_name, Size vocab, Size hidden) {
  return in("embed_tokens", class_name,
            tensor("weight", {vocab, hidden}, Role::embedding) + buffer("embed_scale", {}));
}

template <class Layer>
Part gemma_body(const Config& c, const std::string& family, std::string_view embedding_class,
                Part rotary_tables, Layer&& layer) {
  const Size hidden = c.dim({"hidden_size"});
  const std::string block = family + "DecoderLayer";
  return with_norm(
      unsplittable(scaled_embedding(embedding_class, c.dim({"vocab_size"}), hidden) +
                       stack("layers", block, c.dim({"num_hidden_layers"}), layer) +
                       rms_norm("norm", family + "RMSNorm", hidden) + std::move(rotary_tables),
                   {block}),
      family + "RMSNorm", NormKind::rms_plus_1);
}

/// Gemma 2 added these norms around the feed-forward.
Part sandwich_norms(const std::string& family, Size hidden) {
  return rms_norm("pre_feedforward_layernorm", family + "RMSNorm", hidden) +
         rms_norm("post_feedforward_layernorm", family + "RMSNorm", hidden);
}

/// Source: transformers 5.23, models/gemma/{configuration,modeling}_gemma.py. The legacy name
/// "gelu" means the tanh approximation there.
Part gemma_trunk(const Config& c) {
  Common s = common_of(c, {.kv_heads = 16, .head_dim = 256, .act = "gelu_pytorch_tanh"});
  if (c.text({"hidden_act"}, "") == "gelu") s.act = "GELUTanh";
  const Bias b = c.bias({"attention_bias"}, false);
  return gemma_body(c, "Gemma", "GemmaTextScaledWordEmbedding",
                    rotary("GemmaRotaryEmbedding", rotated_if_scaled(c, s.heads.dim)), [&] {
                      return in("self_attn", "GemmaAttention", attention(s.hidden, s.heads, b, b)) +
                             gated_rest(s, "Gemma");
                    });
}
Part gemma(const Config& c) { return causal_lm(c, "GemmaModel", gemma_trunk(c), Tied::yes); }

/// Source: transformers 5.23, models/gemma2/{configuration,modeling}_gemma2.py.
Part gemma2_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 4, .head_dim = 256, .act = "gelu_pytorch_tanh"});
  const Bias b = c.bias({"attention_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  const auto types = every_nth_full(c, s.layers, 2);
  return gemma_body(c, "Gemma2", "Gemma2TextScaledWordEmbedding",
                    rotary("Gemma2RotaryEmbedding", rotated_if_scaled(c, s.heads.dim)),
                    [&](Size i) {
                      return in("self_attn", "Gemma2Attention",
                                attention(s.hidden, s.heads, b, b,
                                          window_of(types[static_cast<std::size_t>(i)], window))) +
                             gated_rest(s, "Gemma2") + sandwich_norms("Gemma2", s.hidden);
                    });
}
Part gemma2(const Config& c) { return causal_lm(c, "Gemma2Model", gemma2_trunk(c), Tied::yes); }

/// Source: transformers 5.23, models/gemma3/{configuration,modeling}_gemma3.py.
Part gemma3_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 4, .head_dim = 256, .act = "gelu_pytorch_tanh"});
  const Bias b = c.bias({"attention_bias"}, false);
  Size window = c.dim_or_none({"sliding_window"}, 4096);
  if (c.flag({"use_bidirectional_attention"}, false)) window = window / 2 + 1;
  const auto types = every_nth_full(c, s.layers, c.dim({"sliding_window_pattern"}, 6));
  return with_quirks(
      gemma_body(c, "Gemma3", "Gemma3TextScaledWordEmbedding",
                 rotary_by_type(c, "Gemma3RotaryEmbedding", types, s.heads.dim),
                 [&](Size i) {
                   return in("self_attn", "Gemma3Attention",
                             attention(s.hidden, s.heads, b, b,
                                       window_of(types[static_cast<std::size_t>(i)], window)) +
                                 rms_norm("q_norm", "Gemma3RMSNorm", s.heads.dim) +
                                 rms_norm("k_norm", "Gemma3RMSNorm", s.heads.dim)) +
                          gated_rest(s, "Gemma3") + sandwich_norms("Gemma3", s.hidden);
                 }),
      {.attention = {.masks_images = true}});
}
Part gemma3_text(const Config& c) {
  return causal_lm(c, "Gemma3TextModel", gemma3_trunk(c), Tied::yes);
}

/// Gemma 3 with chunks in place of windows: a query sees its chunk and the one before, together
/// sliding_window tokens. Source: vLLM 0.33 rnj1.py and
/// v1/attention/ops/triton_unified_attention.py.
Part rnj1(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 4, .head_dim = 256, .act = "gelu_pytorch_tanh"});
  const Bias b = c.bias({"attention_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  const auto types = layer_types(c, s.layers, [](Size) { return "full_attention"; },
                                 {"full_attention", "chunked_attention"});
  return causal_lm(c, "Rnj1Model",
                   gemma_body(c, "Rnj1", "Rnj1ScaledWordEmbedding",
                              rotary_by_type(c, "Rnj1RotaryEmbedding", types, s.heads.dim),
                              [&](Size i) {
                                const bool chunked =
                                    types[static_cast<std::size_t>(i)] == "chunked_attention";
                                return in("self_attn", "Rnj1Attention",
                                          attention(s.hidden, s.heads, b, b, chunked ? window : 0) +
                                              head_norms("Rnj1RMSNorm", s.heads.dim)) +
                                       gated_rest(s, "Rnj1") + sandwich_norms("Rnj1", s.hidden);
                              }),
                   Tied::yes);
}

/// Gemma 2 without its norms after each half.
/// Source: transformers 5.23, models/vaultgemma/{configuration,modeling}_vaultgemma.py.
Part vaultgemma_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 4, .head_dim = 256, .act = "gelu_pytorch_tanh"});
  const Bias b = c.bias({"attention_bias"}, false);
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  const auto types = every_nth_full(c, s.layers, 2);
  const Classes k{"VaultGemma"};
  return gemma_body(c, "VaultGemma", "VaultGemmaTextScaledWordEmbedding",
                    rotary("VaultGemmaRotaryEmbedding", rotated_if_scaled(c, s.heads.dim)),
                    [&](Size i) {
                      return in("self_attn", k("Attention"),
                                attention(s.hidden, s.heads, b, b,
                                          window_of(types[static_cast<std::size_t>(i)], window))) +
                             in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act)) +
                             rms_norm("input_layernorm", k("RMSNorm"), s.hidden) +
                             rms_norm("pre_feedforward_layernorm", k("RMSNorm"), s.hidden);
                    });
}
Part vaultgemma(const Config& c) {
  return causal_lm(c, "VaultGemmaModel", vaultgemma_trunk(c), Tied::yes);
}

}  // namespace headroom::model::families::gemma
