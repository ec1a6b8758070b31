// XVERSE-MoE: Llama with experts and shared experts in every layer.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::xverse_moe {

/// Source: SGLang 0.5.23 xverse_moe.py.
Part xverse_moe(const Config& c) {
  const Classes k{"Xverse"};
  const Common s = common_of(c);
  const Size shared = c.count({"num_shared_experts"}, 0);
  Part mlp = in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act));
  if (c.has("num_experts")) {
    const Routing r = routing_of(c, {"num_experts"}, {"moe_top_k", "num_experts_per_tok"});
    Part shares = shared > 0
                      ? in("shared_experts", k("MLP"), gated_mlp(s.hidden, shared * s.inner, s.act))
                      : Part{};
    mlp = in("mlp", k("MoEMLP"),
             router("router", "Linear", s.hidden, r.experts) +
                 fused_experts(k("Experts"), s.hidden, s.inner, r, s.act) + std::move(shares));
  }
  return decoder(c, k, rotated_if_scaled(c, s.heads.dim),
                 [&] { return decoder_layer(k, s.hidden, attention(s.hidden, s.heads), mlp); });
}

}  // namespace headroom::model::families::xverse_moe
