// MiniMax-M2: standard attention with norms over all queries and keys, and 256 small experts.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::minimax_m2 {

/// Source: transformers 5.23, models/minimax_m2. The published files and vLLM hold routers in fp32
/// (vLLM 0.33 minimax_m2.py: params_dtype).
Part minimax_m2(const Config& c) {
  const Classes k{"MiniMaxM2"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads{c.dim({"num_attention_heads"}), c.dim({"num_key_value_heads"}, 8),
                    c.dim({"head_dim"}, 128)};
  const Routing r = routing_of(c, {"num_local_experts", "num_experts"});
  const Part mlp = in("mlp", k("SparseMoeBlock"),
                      in_fp32(router("gate", k("TopKRouter"), hidden, r.experts)) +
                          fused_experts(k("Experts"), hidden, c.dim({"intermediate_size"}), r,
                                        activation_class(c, {"hidden_act"}, "silu")) +
                          score_correction(r.experts));
  const Size rotated = c.has("rotary_dim") ? c.dim({"rotary_dim"}) : rotated_dims(c, heads.dim);
  return with_quirks(decoder(c, k, rotated,
                             [&] {
                               return decoder_layer(
                                   k, hidden,
                                   attention(hidden, heads) +
                                       rms_norm("q_norm", k("RMSNorm"), heads.query * heads.dim) +
                                       rms_norm("k_norm", k("RMSNorm"), heads.kv * heads.dim),
                                   mlp);
                             }),
                     {.attention = {.rotation = Rotation::concatenated},
                      .router = {.kind = RouterKind::sigmoid_as_is, .converted = false}});
}

}  // namespace headroom::model::families::minimax_m2
