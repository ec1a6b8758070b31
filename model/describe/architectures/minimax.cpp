// MiniMax-01 (arXiv:2501.08313): lightning attention (arXiv:2405.17381) between layers of standard
// attention, and a mixture in every layer.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::minimax {

/// Source: transformers 5.23, models/minimax. A linear layer caches a matrix of head_dim x head_dim
/// for each head. Its decay factors are buffers. A sliding_window only masks attention, so the
/// cache keeps all tokens.
Part minimax(const Config& c) {
  const Classes k{"MiniMax"};
  const Size hidden = c.dim({"hidden_size"}), block = c.dim({"block_size"}, 256);
  const Heads h = heads_of(c);
  const Size width = h.query * h.dim;
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r = routing_of(c, {"num_local_experts", "num_experts"});
  const Part mlp =
      in("mlp", k("SparseMoeBlock"),
         router("gate", k("TopKRouter"), hidden, r.experts) +
             fused_experts(k("Experts"), hidden, c.dim({"intermediate_size"}), r, act));
  const auto kept = [](std::string_view name, Shape shape) {
    return buffer(name, std::move(shape), Element::floating, true);
  };
  Part lightning = module("act_fn", act) + rms_norm("norm", k("RMSNorm"), width) +
                   linear("qkv_proj", hidden, 3 * width) + linear("out_proj", width, hidden) +
                   linear("output_gate", hidden, width) + kept("slope_rate", {h.query, 1, 1}) +
                   kept("query_decay", {h.query, block, 1}) +
                   kept("key_decay", {h.query, block, 1}) +
                   kept("diagonal_decay", {1, h.query, block, block});
  lightning.caches = {
      {.kind = CacheKind::recurrent, .per_sequence = times({h.query, h.dim, h.dim})}};
  const auto types = c.texts({"layer_types"});
  const auto linear_layer = [&](Size i) {
    return types.empty() ? i % 2 == 1 : layer_type(c, types, i) == "linear_attention";
  };
  return with_quirks(
      decoder(c, k, rotated_if_scaled(c, h.dim),
              [&](Size i) {
                return (linear_layer(i) ? in("self_attn", k("LightningAttention"), lightning)
                                        : in("self_attn", k("Attention"), attention(hidden, h))) +
                       rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                       rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) + mlp;
              }),
      {.router = {.converted = false}});
}

}  // namespace headroom::model::families::minimax
