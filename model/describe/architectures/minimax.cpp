// MiniMax-01 (arXiv:2501.08313): lightning attention (arXiv:2405.17381) between layers of standard
// attention, and a mixture in every layer.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::minimax {

/// Decay factors by their distance, which transformers' class keeps as buffers.
Part decays(Size heads, Size block) {
  const auto kept = [](std::string_view name, Shape shape) {
    return buffer(name, std::move(shape), Element::floating, true);
  };
  return kept("slope_rate", {heads, 1, 1}) + kept("query_decay", {heads, block, 1}) +
         kept("key_decay", {heads, block, 1}) + kept("diagonal_decay", {1, heads, block, block});
}

/// The whole model. `buffers` are those of each linear layer, and `linear_layer(i)` says whether
/// layer i is one. A linear layer caches a matrix of head_dim x head_dim for each head. A
/// sliding_window only masks attention, so the cache keeps all tokens.
template <class Linear>
Part whole(const Config& c, const Part& buffers, Linear&& linear_layer) {
  const Classes k{"MiniMax"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c);
  const Size width = h.query * h.dim;
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r = routing_of(c, {"num_local_experts", "num_experts"});
  const Part mlp =
      in("mlp", k("SparseMoeBlock"),
         router("gate", k("TopKRouter"), hidden, r.experts) +
             fused_experts(k("Experts"), hidden, c.dim({"intermediate_size"}), r, act));
  Part lightning = module("act_fn", act) + rms_norm("norm", k("RMSNorm"), width) +
                   linear("qkv_proj", hidden, 3 * width) + linear("out_proj", width, hidden) +
                   linear("output_gate", hidden, width) + buffers;
  lightning.caches = {
      {.kind = CacheKind::recurrent, .per_sequence = times({h.query, h.dim, h.dim})}};
  return with_quirks(
      decoder(c, k, rotated_if_scaled(c, h.dim),
              [&](Size i) {
                return (linear_layer(i) ? in("self_attn", k("LightningAttention"), lightning)
                                        : in("self_attn", k("Attention"), attention(hidden, h))) +
                       rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                       rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) + mlp;
              }),
      {.router = {.converted = false}, .mixer = {.block = c.dim({"block_size"}, 256)}});
}

/// Source: transformers 5.23, models/minimax.
Part minimax(const Config& c) {
  const auto types = c.texts({"layer_types"});
  return whole(c, decays(heads_of(c).query, c.dim({"block_size"}, 256)), [&](Size i) {
    return types.empty() ? i % 2 == 1 : layer_type(c, types, i) == "linear_attention";
  });
}

/// MiniMax-Text-01 and MiniMax-M1 as their own code has them: attn_type_list has 0 for a linear
/// layer. Source: vLLM 0.22 minimax_text_01.py.
Part minimax_text_01(const Config& c) {
  const auto list = c.dims({"attn_type_list"});
  if (const Size shared = c.count({"shared_intermediate_size"}, 0); shared > 0)
    c.fail("shared_intermediate_size", "found " + std::to_string(shared) + ", expected 0");
  return whole(c, Part{}, [&](Size i) {
    if (static_cast<std::size_t>(i) >= list.size())
      c.fail("attn_type_list",
             "found " + std::to_string(list.size()) + " entries, expected one for each layer");
    return list[static_cast<std::size_t>(i)] == 0;
  });
}

}  // namespace headroom::model::families::minimax
