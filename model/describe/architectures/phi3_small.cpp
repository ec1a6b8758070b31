// Phi-3-small (arXiv:2404.14219). Its up projection makes gate and up together. Layers in turns
// have block-sparse attention, which keeps all keys and values.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::phi3_small {

/// Source: SGLang 0.5.23 phi3_small.py. SGLang runs the block-sparse layers densely. The config
/// class of the checkpoint ties the head.
Part phi3_small(const Config& c) {
  const Classes k{"Phi3Small"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Heads h = heads_of(c, Defaults{.kv_heads = 8});
  const Size inner = c.dim({"ff_intermediate_size", "intermediate_size"});
  const Part layer = in("self_attn", k("SelfAttention"),
                        fused_attention(hidden, h, "query_key_value", "dense", Bias::yes)) +
                     in("mlp", k("MLP"),
                        linear("up_proj", hidden, 2 * inner, Bias::yes) +
                            linear("down_proj", inner, hidden, Bias::yes)) +
                     layer_norm("input_layernorm", hidden) +
                     layer_norm("post_attention_layernorm", hidden);
  return unsplittable(in("model", k("Model"),
                         embedding("embed_tokens", vocab, hidden) +
                             stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}),
                                   [&] { return layer; }) +
                             layer_norm("final_layernorm", hidden)) +
                          lm_head("model.embed_tokens.weight", vocab, hidden,
                                  c.flag({"tie_word_embeddings"}, true)),
                      {k("DecoderLayer")});
}

}  // namespace headroom::model::families::phi3_small
