// The first Qwen (arXiv:2309.16609): GPT-2's names around Llama's layer. Its intermediate_size
// counts gate and up together.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::qwen1 {

/// Source: SGLang 0.5.23 qwen.py. Queries, keys and values have a bias, other matrices none.
Part qwen1(const Config& c) {
  const Classes k{"QWen"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size heads = c.dim({"num_attention_heads"}), inner = c.dim({"intermediate_size"}) / 2;
  const Heads h{heads, heads, c.dim({"kv_channels"}, hidden / heads)};
  Part attn = linear("c_attn", hidden, 3 * h.query * h.dim, Bias::yes) +
              linear("c_proj", h.query * h.dim, hidden);
  attn.caches = {kv_cache(h)};
  const Part layer = rms_norm("ln_1", k("RMSNorm"), hidden) + in("attn", k("Attention"), attn) +
                     rms_norm("ln_2", k("RMSNorm"), hidden) +
                     in("mlp", k("MLP"),
                        linear("w1", hidden, inner) + linear("w2", hidden, inner) +
                            linear("c_proj", inner, hidden));
  return unsplittable(
      in("transformer", k("Model"),
         embedding("wte", vocab, hidden) +
             stack("h", k("Block"), c.dim({"num_hidden_layers"}), [&] { return layer; }) +
             rms_norm("ln_f", k("RMSNorm"), hidden)) +
          lm_head("transformer.wte.weight", vocab, hidden, c.flag({"tie_word_embeddings"}, false)),
      {k("Block")});
}

}  // namespace headroom::model::families::qwen1
