// Jamba (arXiv:2403.19887): one attention layer for every seven Mamba layers, and a mixture in
// every other layer.
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::jamba {

/// Source: transformers 5.23, models/jamba.
Part jamba(const Config& c) {
  const Classes k{"Jamba"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size vocab = c.dim({"vocab_size"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Mamba m{.inner = c.dim({"mamba_expand"}, 2) * hidden,
                .state = c.dim({"mamba_d_state"}, 16),
                .kernel = c.dim({"mamba_d_conv"}, 4),
                .rank = time_step_rank(c, {"mamba_dt_rank"}),
                .conv_bias = c.bias({"mamba_conv_bias"}, true),
                .bias = c.bias({"mamba_proj_bias"}, false)};
  const Part mamba =
      in("mamba", k("MambaMixer"),
         mamba_mixer(hidden, m, act) + rms_norm("dt_layernorm", k("RMSNorm"), m.rank) +
             rms_norm("b_layernorm", k("RMSNorm"), m.state) +
             rms_norm("c_layernorm", k("RMSNorm"), m.state));
  const Part attn = in("self_attn", k("Attention"), attention(hidden, heads_of(c)));
  const Part dense = in("feed_forward", k("MLP"), gated_mlp(hidden, inner, act));
  const Routing r = routing_of(c, {"num_experts", "num_local_experts"});
  const Part sparse = in("feed_forward", k("SparseMoeBlock"),
                         router("router", k("TopKRouter"), hidden, r.experts) +
                             fused_experts(k("Experts"), hidden, inner, r, act));
  const auto periodic = [&](Size i, Config::Keys period, Size every, Config::Keys offset,
                            Size first) {
    return i % c.dim(period, every) == c.count(offset, first);
  };
  const auto attends = [&](Size i) {
    return periodic(i, {"attn_layer_period"}, 8, {"attn_layer_offset"}, 4);
  };
  const auto mixes = [&](Size i) {
    return r.experts > 1 && periodic(i, {"expert_layer_period"}, 2, {"expert_layer_offset"}, 1);
  };
  const Part layers = mixed_stack(
      "layers", c.dim({"num_hidden_layers"}),
      [&](Size i) { return k(attends(i) ? "AttentionDecoderLayer" : "MambaDecoderLayer"); },
      [&](Size i) {
        return (attends(i) ? attn : mamba) + (mixes(i) ? sparse : dense) +
               rms_norm("input_layernorm", k("RMSNorm"), hidden) +
               rms_norm("pre_ff_layernorm", k("RMSNorm"), hidden);
      });
  return unsplittable(in("model", k("Model"),
                         embedding("embed_tokens", vocab, hidden) + layers +
                             rms_norm("final_layernorm", k("RMSNorm"), hidden)) +
                          lm_head("model.embed_tokens.weight", vocab, hidden,
                                  c.flag({"tie_word_embeddings"}, false)),
                      {k("AttentionDecoderLayer"), k("MambaDecoderLayer")});
}

}  // namespace headroom::model::families::jamba
