// EXAONE 3 and 3.5 (arXiv:2408.03541, arXiv:2412.04862) as their own code has them: Llama with the
// names of GPT-2.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::exaone {

/// Source: vLLM 0.33 exaone.py, with the names of the checkpoint.
Part exaone(const Config& c) {
  const Classes k{"Exaone"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size vocab = c.dim({"vocab_size"});
  const Heads h = heads_of(c, Defaults{});
  const Bias bias = c.bias({"attention_bias", "bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  Part attn = linear("q_proj", hidden, h.query * h.dim, bias) +
              linear("k_proj", hidden, h.kv * h.dim, bias) +
              linear("v_proj", hidden, h.kv * h.dim, bias) +
              linear("out_proj", h.query * h.dim, hidden, bias);
  attn.caches = {kv_cache(h)};
  const Part layer =
      rms_norm("ln_1", k("RMSNorm"), hidden) +
      in("attn", k("Attention"), in("attention", k("SdpaAttention"), std::move(attn))) +
      rms_norm("ln_2", k("RMSNorm"), hidden) +
      in("mlp", k("GatedMLP"),
         linear("c_fc_0", hidden, inner, mlp) + linear("c_fc_1", hidden, inner, mlp) +
             linear("c_proj", inner, hidden, mlp) +
             module("act", activation_class(c, {"activation_function", "hidden_act"}, "silu")));
  return unsplittable(
      in("transformer", k("Model"),
         embedding("wte", vocab, hidden) +
             stack("h", k("Block"), c.dim({"num_layers", "num_hidden_layers"}),
                   [&] { return layer; }) +
             rms_norm("ln_f", k("RMSNorm"), hidden) +
             rotary(k("RotaryEmbedding"), rotated_if_scaled(c, h.dim))) +
          lm_head("transformer.wte.weight", vocab, hidden, c.flag({"tie_word_embeddings"}, false)),
      {k("Block")});
}

}  // namespace headroom::model::families::exaone
