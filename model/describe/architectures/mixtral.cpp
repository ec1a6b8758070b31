// Mixtral (arXiv:2401.04088): Mistral with eight experts in the feed-forward. A token uses two of
// them.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::mixtral {

/// Source: transformers 5.23, models/mixtral.
Part mixtral(const Config& c) {
  const Classes k{"Mixtral"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Heads heads = heads_of(c, Defaults{.kv_heads = 8});
  const Size window = c.count({"sliding_window"}, 0);
  const Routing r = routing_of(c, {"num_local_experts", "num_experts"});
  const Part mlp = in("mlp", k("SparseMoeBlock"),
                      router("gate", k("TopKRouter"), hidden, r.experts) +
                          fused_experts(k("Experts"), hidden, inner, r,
                                        activation_class(c, {"hidden_act"}, "silu")));
  return with_quirks(decoder(c, k, rotated_if_scaled(c, heads.dim),
                             [&] {
                               return decoder_layer(
                                   k, hidden, attention(hidden, heads, Bias::no, Bias::no, window),
                                   mlp);
                             }),
                     {.router = {.converted = false}});
}

}  // namespace headroom::model::families::mixtral
