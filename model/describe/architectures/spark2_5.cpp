// Spark 2.5: fused queries, keys and values, a gate for each head, and sliding windows.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::spark2_5 {

/// Source: SGLang 0.5.23 spark2_5.py and configs/spark2_5.py.
Part spark2_5(const Config& c) {
  const Classes k{"Spark2_5"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size layers = c.dim({"num_hidden_layers"}), vocab = c.dim({"vocab_size"});
  const Heads h = heads_of(c, Defaults{.kv_heads = 2, .head_dim = 256});
  const Size window = c.dim({"sliding_window"}, 512);
  const auto types = every_nth_full(c, layers, 4);
  const bool gated = c.flag({"headwise_attn_output_gate"}, true);
  const auto attn = [&](Size i) {
    Part p = fused_attention(hidden, h, "q_k_v_proj", "out_proj", Bias::no,
                             window_of(layer_type(c, types, i), window));
    return gated ? std::move(p) + linear("g_proj", hidden, h.query) : p;
  };
  const Part mlp = in("mlp", k("MLP"), gated_mlp(hidden, inner, "GELUActivation"));
  return unsplittable(
      in("model", k("Model"),
         embedding("embedding", vocab, hidden) +
             stack("layers", k("DecoderLayer"), layers,
                   [&](Size i) { return decoder_layer(k, hidden, attn(i), mlp); }) +
             rms_norm("norm", k("RMSNorm"), hidden) +
             rotary_by_kind(
                 c, k("RotaryEmbedding"), {"full_attention", "sliding_attention"}, h.dim,
                 [](const std::string& kind) { return kind == "full_attention" ? 0.25 : 1.0; })) +
          lm_head("model.embedding.weight", vocab, hidden, c.flag({"tie_word_embeddings"}, false)),
      {k("DecoderLayer")});
}

}  // namespace headroom::model::families::spark2_5
