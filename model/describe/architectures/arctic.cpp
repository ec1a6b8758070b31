// Snowflake Arctic: a dense feed-forward besides the experts of each layer.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::arctic {

/// The checkpoint's names for a gated feed-forward.
Part three_matrices(Size hidden, Size inner) {
  return linear("w1", hidden, inner) + linear("w2", inner, hidden) + linear("w3", hidden, inner) +
         module("act_fn", "SiLUActivation");
}

/// Sources: llama.cpp src/models/arctic.cpp; the config class of the checkpoint for absent keys;
/// modeling_arctic.py (ArcticDecoderLayer): the experts read the layer's input, the dense
/// feed-forward what attention leaves. Layers without experts have no such feed-forward.
Part arctic(const Config& c) {
  const Classes k{"Arctic"};
  const Common s = common_of(c);
  const Routing r = routing_of(c, {"num_local_experts"}, {"num_experts_per_tok"});
  const Size every = c.dim({"moe_layer_frequency"}, 2);
  const bool beside = c.flag({"parallel_attn_mlp_res"}, false) && c.flag({"use_residual"}, true);
  const Part experts = in("block_sparse_moe", k("MoE"),
                          router("gate", "Linear", s.hidden, r.experts) +
                              fused_experts(k("Experts"), s.hidden, s.inner, r, s.act));
  const Part plain =
      in("block_sparse_moe", k("MoE"), in("mlp", k("MLP"), three_matrices(s.hidden, s.inner)));
  const Part rest = beside ? rms_norm("residual_layernorm", k("RMSNorm"), s.hidden) +
                                 in("residual_mlp", k("MLP"), three_matrices(s.hidden, s.hidden))
                           : Part{};
  return with_quirks(decoder(c, k, rotated_if_scaled(c, s.heads.dim),
                             [&](Size i) {
                               const bool sparse = (i + 1) % every == 0;
                               return decoder_layer(k, s.hidden, attention(s.hidden, s.heads),
                                                    sparse ? experts + rest : plain);
                             }),
                     {.unrecorded = true});
}

}  // namespace headroom::model::families::arctic
