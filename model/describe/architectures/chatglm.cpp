// ChatGLM2, ChatGLM3 and GLM-4-9B as their own code has them: fused projections, few key-value
// heads, and rotation of half of each head.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::chatglm {

/// Only the generations with these keys. ChatGLM-6B and GLM-4V-9B carry the same class names.
void check_generation(const Config& c) {
  for (const std::string_view key : {"inner_hidden_size", "vision_config"})
    if (c.has(key))
      throw NotDescribed(c.origin() + ": key '" + std::string(key) + "': class '" + c.class_name() +
                         "' is described for ChatGLM2, ChatGLM3 and GLM-4, which lack this key");
}

/// Sources: vLLM 0.33 chatglm.py and transformers_utils/configs/chatglm.py; modeling_chatglm.py of
/// THUDM/chatglm3-6b. Checkpoints hold the rotary frequencies of half a head.
Part chatglm(const Config& c) {
  check_generation(c);
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"ffn_hidden_size"});
  const Size vocab = c.dim({"padded_vocab_size", "vocab_size"});
  const Size query = c.dim({"num_attention_heads"}), dim = c.dim({"kv_channels"}, hidden / query);
  const bool grouped = c.flag({"multi_query_attention"}, false);
  const Heads h{query, grouped ? c.dim({"multi_query_group_num"}) : query, dim};
  const Bias bias = c.bias({"add_bias_linear"}, false);
  const bool qkv = bias == Bias::yes || c.flag({"add_qkv_bias"}, false);
  const auto norm = [&](std::string_view name) {
    return c.flag({"rmsnorm"}, true) ? rms_norm(name, "RMSNorm", hidden) : layer_norm(name, hidden);
  };
  Part attn =
      linear("query_key_value", hidden, (h.query + 2 * h.kv) * h.dim, qkv ? Bias::yes : Bias::no) +
      linear("dense", h.query * h.dim, hidden, bias);
  attn.caches = {kv_cache(h)};
  const Part layer =
      norm("input_layernorm") + in("self_attention", "SelfAttention", std::move(attn)) +
      norm("post_attention_layernorm") +
      in("mlp", "MLP",
         linear("dense_h_to_4h", hidden, 2 * inner, bias) +
             linear("dense_4h_to_h", inner, hidden, bias) + module("activation_func", "SiLU"));
  Part encoder = stack("layers", "GLMBlock", c.dim({"num_layers", "num_hidden_layers"}),
                       [&] { return layer; });
  if (c.flag({"post_layer_norm"}, true)) encoder = std::move(encoder) + norm("final_layernorm");
  Part head = linear("output_layer", hidden, vocab);
  head.tensors[0].role = Role::head;
  if (c.flag({"tie_word_embeddings"}, false))
    head.tensors[0].tied_to = "transformer.embedding.word_embeddings.weight";
  return with_quirks(
      unsplittable(in("transformer", "ChatGLMModel",
                      in("embedding", "Embedding", embedding("word_embeddings", vocab, hidden)) +
                          in("rotary_pos_emb", "RotaryEmbedding",
                             buffer("inv_freq", {(dim / 2 + 1) / 2}, Element::floating, true)) +
                          in("encoder", "GLMTransformer", std::move(encoder)) + std::move(head)),
                   {"GLMBlock"}),
      {.attention = {.rotation = Rotation::concatenated, .own_tables = true}});
}

}  // namespace headroom::model::families::chatglm
