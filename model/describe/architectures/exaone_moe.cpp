// EXAONE mixtures (K-EXAONE, arXiv:2601.01739): sliding windows in three of four layers, and norms
// on each head.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::exaone_moe {

/// Source: transformers 5.23, models/exaone_moe.
Part exaone_moe(const Config& c) {
  const Classes k{"ExaoneMoe"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_of(c);
  const Size window = c.count({"sliding_window"}, 0), every = c.dim({"sliding_window_pattern"}, 4);
  const Part gate = corrected_router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts);
  return with_quirks(
      decoder(c, k, rotated_if_scaled(c, heads.dim),
              [&](Size i) {
                const Size own = window_of(c, i, window, (i + 1) % every != 0 ? window : 0);
                return decoder_layer(k, hidden,
                                     attention(hidden, heads, Bias::no, Bias::no, own) +
                                         head_norms(k("RMSNorm"), heads.dim),
                                     is_sparse(c, i, 1)
                                         ? shared_mixture(c, k, k("SparseMoEBlock"), gate)
                                         : dense_mlp(c, k));
              }),
      {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::exaone_moe
