// MiMo-V2-Flash (arXiv:2601.02780): values narrower than keys, layers behind a window with twice
// the key-value heads and with sinks.
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::mimo_v2_flash {

/// Source: transformers 5.23, models/mimo_v2_flash. `sliding_window_size` does not count the
/// current token.
Part mimo_v2_flash(const Config& c) {
  const Classes k{"MiMoV2Flash"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Heads heads = heads_of(c, 4, 192);
  const Size value = c.dim({"v_head_dim"}, 128);
  const Size window = c.has("sliding_window_size") ? c.dim({"sliding_window_size"}) + 1
                                                   : c.dim({"sliding_window"}, 129);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Routing r = shared_routing_of(c);
  const Part mixture = in("mlp", k("MoE"),
                          fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r,
                                        activation_class(c, {"hidden_act"}, "silu")) +
                              corrected_router("gate", k("TopkRouter"), hidden, r.experts));
  const auto attn = [&](bool windowed) {
    const Size kv = windowed ? c.dim({"swa_num_key_value_heads"}, 2 * heads.kv) : heads.kv;
    Part p = (windowed ? tensor("sinks", {heads.query}, Role::other) : Part{}) +
             linear("q_proj", hidden, heads.query * heads.dim, bias) +
             linear("k_proj", hidden, kv * heads.dim, bias) +
             linear("v_proj", hidden, kv * value, bias) +
             linear("o_proj", heads.query * value, hidden);
    p.caches = {{.per_token = kv * (heads.dim + value),
                 .window = windowed ? window : 0,
                 .score_dims = heads.query * (heads.dim + value),
                 .kv_heads = kv}};
    return p;
  };
  const auto windowed = [&](Size i) {
    return window_of(c, i, 1, i == 0 || (i + 1) % 6 == 0 ? 0 : 1) == 1;
  };
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    const bool sparse = c.has("mlp_layer_types") ? is_sparse(c, i, 1) : i > 0;
    return decoder_layer(k, hidden, attn(windowed(i)), sparse ? mixture : dense_mlp(c, k));
  });
  std::vector<std::string> kinds;
  for (const bool kind : {false, true})
    for (Size i = 0; i < c.dim({"num_hidden_layers"}); ++i)
      if (windowed(i) == kind) {
        kinds.push_back(kind ? "sliding_attention" : "full_attention");
        break;
      }
  return with_quirks(unsplittable(in("model", k("Model"),
                                     embedding("embed_tokens", vocab, hidden) + layers +
                                         rms_norm("norm", k("RMSNorm"), hidden) +
                                         rotary_by_kind(c, k("RotaryEmbedding"), kinds, heads.dim,
                                                        [](const std::string&) { return 0.334; })) +
                                      lm_head("model.embed_tokens.weight", vocab, hidden,
                                              c.flag({"tie_word_embeddings"}, false)),
                                  {k("DecoderLayer")}),
                     {.attention = {.rotation = Rotation::concatenated}});
}

}  // namespace headroom::model::families::mimo_v2_flash
