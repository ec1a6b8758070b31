// TeleChat 2: Llama with the keys and names of its own code. One matrix makes keys and values.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::telechat {

/// Source: vLLM 0.33 telechat2.py. Only the last matrix of each half has a bias.
Part telechat2(const Config& c) {
  const Classes k{"Telechat2"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size inner = c.dim({"ffn_hidden_size", "intermediate_size"});
  const Size query = c.dim({"n_head", "num_attention_heads"});
  const Heads h{
      query, c.dim_or_none({"num_key_value_heads"}, 0) > 0 ? c.dim({"num_key_value_heads"}) : query,
      c.dim({"head_dim"}, hidden / query)};
  Part attn = linear("query", hidden, h.query * h.dim) +
              linear("key_value", hidden, 2 * h.kv * h.dim) +
              linear("dense", h.query * h.dim, hidden, Bias::yes);
  attn.caches = {kv_cache(h)};
  const Part layer =
      rms_norm("input_layernorm", k("RMSNorm"), hidden) +
      in("self_attention", k("Attention"), attn) +
      rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
      in("mlp", k("MLP"),
         linear("gate_proj", hidden, inner) + linear("up_proj", hidden, inner) +
             linear("down_proj", inner, hidden, Bias::yes) + module("act_fn", "SiLUActivation"));
  const Size layers = c.dim({"n_layer", "num_hidden_layers"});
  return unsplittable(in("transformer", k("Model"),
                         embedding("word_embeddings", vocab, hidden) +
                             stack("h", k("Block"), layers, [&] { return layer; }) +
                             rms_norm("ln_f", k("RMSNorm"), hidden)) +
                          lm_head("transformer.word_embeddings.weight", vocab, hidden,
                                  c.flag({"tie_word_embeddings"}, false)),
                      {k("Block")});
}

}  // namespace headroom::model::families::telechat
