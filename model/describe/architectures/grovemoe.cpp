// Grove MoE (arXiv:2508.07785): Qwen3's experts in groups of two, each with a small expert that its
// group shares.
#include <algorithm>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::grovemoe {

/// Experts of a group. The class has no key for it.
constexpr Size group = 2;

/// Sources: llama.cpp conversion/grovemoe.py and src/models/grovemoe.cpp, which quote
/// modeling_grove_moe.py of inclusionAI/GroveMoE-Inst for what the config does not say.
Part grovemoe(const Config& c) {
  const Classes k{"GroveMoe"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c, Defaults{.head_dim = 128});
  const Routing r = routing_of(c, {"num_experts"});
  const Size grouped = c.dim({"experts_per_group"}, group);
  if (r.experts % grouped != 0)
    c.fail("num_experts", "found " + std::to_string(r.experts) + ", expected a multiple of " +
                              std::to_string(grouped));
  const Routing shared{r.experts / grouped, std::min(r.used, r.experts / grouped)};
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Part mixture =
      in("mlp", k("SparseMoeBlock"),
         router("gate", "Linear", hidden, r.experts) +
             fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r, act) +
             moved(fused_experts(k("Experts"), hidden, h.dim, shared, act), "experts",
                   "chunk_experts"));
  return decoder(c, k, rotated_if_scaled(c, h.dim), [&] {
    return decoder_layer(k, hidden,
                         attention(hidden, h, c.bias({"attention_bias"}, false), Bias::no) +
                             head_norms(k("RMSNorm"), h.dim),
                         mixture);
  });
}

}  // namespace headroom::model::families::grovemoe
