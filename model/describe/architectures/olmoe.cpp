// OLMoE (arXiv:2409.02060): 64 small experts, and norms over all queries and keys of a layer.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::olmoe {

/// Source: transformers 5.23, models/olmoe.
Part olmoe(const Config& c) {
  const Classes k{"Olmoe"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Routing r = routing_of(c, {"num_experts", "num_local_experts"});
  const Part mlp = in("mlp", k("SparseMoeBlock"),
                      router("gate", k("TopKRouter"), hidden, r.experts) +
                          fused_experts(k("Experts"), hidden, c.dim({"intermediate_size"}), r,
                                        activation_class(c, {"hidden_act"}, "silu")));
  return decoder(c, k, rotated_if_scaled(c, heads.dim), [&] {
    return decoder_layer(k, hidden,
                         attention(hidden, heads, bias, bias) +
                             rms_norm("q_norm", k("RMSNorm"), hidden) +
                             rms_norm("k_norm", k("RMSNorm"), hidden / heads.query * heads.kv),
                         mlp);
  });
}

}  // namespace headroom::model::families::olmoe
