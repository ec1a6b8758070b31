// Kolibri 1: 384 small experts, sliding windows in four of five layers, and norms before and after
// each half.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::kolibri1 {

/// Source: transformers 5.23, models/kolibri1.
Part kolibri1(const Config& c) {
  const Classes k{"Kolibri1"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_of(c, 4, 128);
  const Size window = c.count({"sliding_window"}, 513);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r = routing_of(c, {"num_experts", "num_local_experts"});
  const Part mlp =
      in("mlp", k("SparseMoeBlock"),
         fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r, act) +
             corrected_router("gate", k("TopKRouter"), hidden, r.experts) +
             in("shared_experts", k("MLP"),
                gated_mlp(hidden, c.count({"shared_expert_intermediate_size"}), act)));
  return with_quirks(
      decoder(c, k, rotated_if_scaled(c, heads.dim),
              [&](Size i) {
                const Size own = window_of(c, i, window, (i + 1) % 5 == 0 ? 0 : window);
                return decoder_layer(k, hidden,
                                     attention(hidden, heads, Bias::no, Bias::no, own) +
                                         head_norms(k("RMSNorm"), heads.dim),
                                     mlp) +
                       rms_norm("post_self_attn_layernorm", k("RMSNorm"), hidden) +
                       rms_norm("post_mlp_layernorm", k("RMSNorm"), hidden);
              }),
      {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::kolibri1
