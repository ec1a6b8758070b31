// Phi-3.5-MoE (arXiv:2404.14219).
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::phimoe {

/// Source: transformers 5.23, models/phimoe.
Part phimoe(const Config& c) {
  const Classes k{"Phimoe"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Heads heads = heads_of(c, Defaults{.kv_heads = 8});
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size window = c.count({"sliding_window"}, 0);
  const Routing r = routing_of(c, {"num_local_experts"});
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&] {
    return in("self_attn", k("Attention"), attention(hidden, heads, bias, bias, window)) +
           in("mlp", k("SparseMoeBlock"),
              router("router", k("TopKRouter"), hidden, r.experts) +
                  fused_experts(k("Experts"), hidden, c.dim({"intermediate_size"}), r,
                                activation_class(c, {"hidden_act"}, "silu"))) +
           layer_norm("input_layernorm", hidden) + layer_norm("post_attention_layernorm", hidden);
  });
  return unsplittable(
      in("model", k("Model"),
         embedding("embed_tokens", vocab, hidden) + layers + layer_norm("norm", hidden) +
             rotary(k("RotaryEmbedding"), rotated_if_scaled(c, heads.dim))) +
          lm_head("model.embed_tokens.weight", vocab, hidden,
                  c.flag({"tie_word_embeddings"}, false), c.bias({"lm_head_bias"}, false)),
      {k("DecoderLayer")});
}

}  // namespace headroom::model::families::phimoe
