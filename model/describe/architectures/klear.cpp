// Klear: Qwen3's attention, a mixture with shared experts, and a gate that weighs one against the
// other.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::klear {

const Classes k{"KlearMoe"};

Part mixture_of(const Config& c, Size hidden) {
  const Routing r = routing_of(c, {"num_experts"});
  const Size inner = c.dim({"moe_intermediate_size"}), shared = c.count({"n_shared_experts"}, 0);
  Part p = router("gate", "Linear", hidden, r.experts) +
           score_correction(r.experts, "expert_bias") +
           in("experts", k("Experts"), stacked_experts(hidden, inner, r));
  if (shared > 0)
    p = std::move(p) +
        in("shared_experts", k("MLP"),
           gated_mlp(hidden, times({shared, inner}), "SiLUActivation")) +
        linear("coefficient", hidden, 2, Bias::yes);
  return in("mlp", k("SparseMoeBlock"), std::move(p));
}

/// Source: mlx-lm 0.32.2 models/Klear.py.
Part klear(const Config& c) {
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Part attn = attention(hidden, h, bias, bias) + head_norms(k("RMSNorm"), h.dim);
  const Part mixture = mixture_of(c, hidden), dense = dense_mlp(c, k);
  const auto plain = c.dims({"mlp_only_layers"});
  const Size step = c.dim({"decoder_sparse_step"}, 1);
  return with_quirks(decoder(c, k, h.dim,
                             [&](Size i) {
                               const bool listed = std::ranges::find(plain, i) != plain.end();
                               return decoder_layer(
                                   k, hidden, attn,
                                   !listed && (i + 1) % step == 0 ? mixture : dense);
                             }),
                     {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::klear
