// gpt-oss (arXiv:2508.10925): biased experts stored transposed, attention sinks, every other layer
// behind a window of 128 tokens.
#include "model/architectures/decoder.hpp"
#include "model/architectures/sparse_families.hpp"
#include "model/blocks/experts.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/gpt_oss.
Part gpt_oss(const Config& c) {
  const Classes k{"GptOss"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Heads heads{c.dim({"num_attention_heads"}), c.dim({"num_key_value_heads"}),
                    c.dim({"head_dim"}, 64)};
  const Bias bias = c.bias({"attention_bias"}, true);
  const Size window = c.count({"sliding_window"}, 128);
  const Routing r = routing_of(c, {"num_local_experts", "num_experts"});
  const Part experts = routed(tensor("gate_up_proj", {r.experts, hidden, 2 * inner}, Role::matmul) +
                                  tensor("gate_up_proj_bias", {r.experts, 2 * inner}, Role::bias) +
                                  tensor("down_proj", {r.experts, inner, hidden}, Role::matmul) +
                                  tensor("down_proj_bias", {r.experts, hidden}, Role::bias),
                              r);
  const Part mlp = in("mlp", k("MLP"),
                      in("router", k("TopKRouter"),
                         tensor("weight", {r.experts, hidden}, Role::matmul) +
                             tensor("bias", {r.experts}, Role::bias)) +
                          in("experts", k("Experts"), experts));
  return decoder(c, k, rotated_if_scaled(c, heads.dim), [&](Size i) {
    return decoder_layer(
        k, hidden,
        tensor("sinks", {heads.query}, Role::other) +
            attention(hidden, heads, bias, bias, window_of(c, i, window, i % 2 == 0 ? window : 0)),
        mlp);
  });
}

}  // namespace headroom::model::families
