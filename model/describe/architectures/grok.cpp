// Grok-1 and Grok-2: a mixture between four norms. Grok-2 adds a dense feed-forward besides the
// experts.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::grok {

/// Source: SGLang 0.5.23 grok.py, with the names that its loader takes. Checkpoints of Grok-1 have
/// other names for the same elements.
Part grok(const Config& c) {
  const Classes k{"Grok1"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c, Defaults{.head_dim = 128});
  const Routing r = routing_of(c, {"num_local_experts", "num_experts"});
  const std::string act = activation_class(c, {"hidden_act"}, "gelu");
  const Part mixture =
      in("block_sparse_moe", k("MoE"),
         router("gate", k("Router"), hidden, r.experts) +
             fused_experts(k("Experts"), hidden,
                           c.dim({"moe_intermediate_size", "intermediate_size"}), r, act));
  const Part dense = c.flag({"residual_moe"}, false)
                         ? in("mlp", k("MLP"), gated_mlp(hidden, c.dim({"intermediate_size"}), act))
                         : Part{};
  Part norms;
  for (const auto name : {"pre_attn_norm", "post_attn_norm", "pre_moe_norm", "post_moe_norm"})
    norms = std::move(norms) + rms_norm(name, k("RMSNorm"), hidden);
  return with_quirks(decoder(c, k, h.dim,
                             [&] {
                               return in("self_attn", k("Attention"), attention(hidden, h)) +
                                      mixture + dense + norms;
                             }),
                     {.unrecorded = true});
}

}  // namespace headroom::model::families::grok
