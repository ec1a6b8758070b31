// AFMoE (Arcee Trinity): gated attention behind windows, norms around both halves, shared experts.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::afmoe {

/// Source: transformers 5.23, models/afmoe.
Part afmoe(const Config& c) {
  const Classes k{"Afmoe"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Heads heads = heads_of(c, c.dim({"num_attention_heads"}), 128);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size window = c.dim({"sliding_window"}, 1024);
  const Size global = c.dim({"global_attn_every_n_layers"}, 4);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r = routing_of(c, {"num_experts"});
  const Part mixture =
      in("mlp", k("SparseMoeBlock"),
         score_correction_parameter({r.experts}, "expert_bias") +
             in("router", k("TokenChoiceRouter"), linear("gate", hidden, r.experts)) +
             in("shared_experts", k("MLP"),
                gated_mlp(hidden, inner * c.count({"num_shared_experts"}, 2), act)) +
             fused_experts(k("Experts"), hidden, inner, r, act));
  return with_quirks(
      with_norm(decoder(c, k, rotated_if_scaled(c, heads.dim),
                        [&](Size i) {
                          const Size own = window_of(c, i, window, (i + 1) % global ? window : 0);
                          return in("self_attn", k("Attention"),
                                    attention(hidden, heads, bias, bias, own) +
                                        head_norms(k("RMSNorm"), heads.dim) +
                                        linear("gate_proj", hidden, heads.query * heads.dim)) +
                                 rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                                 rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
                                 rms_norm("pre_mlp_layernorm", k("RMSNorm"), hidden) +
                                 rms_norm("post_mlp_layernorm", k("RMSNorm"), hidden) +
                                 (i < c.count({"num_dense_layers"}, 1) ? dense_mlp(c, k) : mixture);
                        }),
                k("RMSNorm"), NormKind::rms_fp32),
      {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::afmoe
