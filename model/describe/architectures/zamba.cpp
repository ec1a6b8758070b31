// Zamba (arXiv:2405.16712) and Zamba2 (arXiv:2411.15242): Mamba layers. Every few layers, an
// attention block precedes the Mamba layer. These blocks share weights.
#include <algorithm>

#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::zamba {

/// `block` as `name` of layer `i`. Layer `owner` owns its weights.
Part shared(Part block, std::string_view name, std::string_view class_name, Size i, Size owner) {
  block = in(name, class_name, std::move(block));
  if (owner != i)
    for (auto& t : block.tensors)
      t.tied_to = "model.layers." + std::to_string(owner) + "." + t.name;
  return block;
}

bool is_hybrid(const Config& c, const std::vector<std::string>& types, Size i, bool otherwise) {
  if (types.empty()) return otherwise;
  return layer_type(c, types, i, "layers_block_type") == "hybrid";
}

template <class Hybrid, class Layer>
Part frame(const Config& c, Classes k, Hybrid&& hybrid, Layer&& layer, Part after = {}) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  return unsplittable(
      in("model", k("Model"),
         embedding("embed_tokens", vocab, hidden) +
             mixed_stack(
                 "layers", c.dim({"num_hidden_layers"}),
                 [&](Size i) { return k(hybrid(i) ? "HybridLayer" : "MambaDecoderLayer"); },
                 layer) +
             rms_norm("final_layernorm", k("RMSNorm"), hidden) + std::move(after)) +
          lm_head("model.embed_tokens.weight", vocab, hidden,
                  c.flag({"tie_word_embeddings"}, true)),
      {k("HybridLayer"), k("MambaDecoderLayer")});
}

/// Source: transformers 5.23, models/zamba. This Mamba has heads, with a separate projection of x
/// and dt for each head.
Part zamba(const Config& c) {
  const Classes k{"Zamba"};
  const Size hidden = c.dim({"hidden_size"}), wide = c.dim({"attention_hidden_size"}, 2 * hidden);
  const Size query = c.dim({"num_attention_heads"});
  const Heads heads{query, c.dim({"num_key_value_heads"}, query),
                    c.dim({"attention_head_dim"}, 2 * hidden / query)};
  const Size inner = c.dim({"mamba_expand"}, 2) * hidden, state = c.dim({"mamba_d_state"}, 16);
  const Size n = c.dim({"n_mamba_heads"}, 2), rank = time_step_rank(c, {"mamba_dt_rank"});
  const Size dim = inner / n, kernel = c.dim({"mamba_d_conv"}, 4);
  const Bias bias = c.bias({"mamba_proj_bias"}, false);
  Part mixer = tensor("x_proj_weight", {n, rank + 2 * state, dim}, Role::matmul) +
               tensor("dt_proj_weight", {n, dim, rank}, Role::matmul) +
               tensor("dt_proj_bias", {n, dim}, Role::bias) +
               tensor("A_log", {n, dim, state}, Role::other) + tensor("D", {n, dim}, Role::other) +
               depthwise_conv("conv1d", inner, kernel, c.bias({"mamba_conv_bias"}, true)) +
               module("act", activation_class(c, {"hidden_mamba_act"}, "silu")) +
               linear("in_proj", hidden, 2 * inner, bias) + linear("out_proj", inner, hidden, bias);
  mixer.caches = {recurrent_state(inner, kernel, times({inner, state}))};
  const Part mamba =
      in("mamba", k("MambaMixer"), mixer) + rms_norm("input_layernorm", k("RMSNorm"), hidden);
  Part attn = linear("q_proj", wide, heads.query * heads.dim) +
              linear("k_proj", wide, heads.kv * heads.dim) +
              linear("v_proj", wide, heads.kv * heads.dim) +
              linear("o_proj", heads.query * heads.dim, hidden);
  attn.caches = {kv_cache(heads)};
  const Part block = in("self_attn", k("Attention"), attn) +
                     in("feed_forward", k("MLP"),
                        gated_mlp(hidden, c.dim({"intermediate_size"}),
                                  activation_class(c, {"hidden_act"}, "gelu"))) +
                     rms_norm("input_layernorm", k("RMSNorm"), wide) +
                     rms_norm("pre_ff_layernorm", k("RMSNorm"), hidden);
  const auto types = c.texts({"layers_block_type", "layer_types"});
  const Size period = c.dim({"attn_layer_period"}, 6), offset = c.count({"attn_layer_offset"}, 4);
  const auto hybrid = [&](Size i) {
    return is_hybrid(c, types, i, i == 2 || (i > 2 && (i - 3) % period == offset));
  };
  Size owner = -1;
  return frame(c, k, hybrid, [&](Size i) {
    if (!hybrid(i)) return mamba;
    if (owner < 0) owner = i;
    return shared(block, "shared_transf", k("AttentionDecoderLayer"), i, owner) +
           linear("linear", hidden, hidden) + in("mamba_decoder", k("MambaDecoderLayer"), mamba);
  });
}

/// The shared blocks of Zamba 2, and the layers that they serve.
struct SharedBlocks {
  Size hidden, wide;  ///< widths of the residual and of attention's input
  Heads heads;
  Bias bias;
  std::vector<Size> hybrids;  ///< layers with a shared block
  Size blocks, rank;          ///< number of shared blocks, width of the adapters
  Size width;                 ///< width of the feed-forward
};

/// Adapters of shared block `block`, one for each hybrid layer that it serves.
Part adapters(const SharedBlocks& b, std::string_view name, Size block, Size from, Size to) {
  Part list;
  for (std::size_t j = 0; j < b.hybrids.size(); ++j)
    list = std::move(list) + (static_cast<Size>(j) % b.blocks == block
                                  ? in(std::to_string(j), "Sequential",
                                       linear("0", from, b.rank) + linear("1", b.rank, to))
                                  : module(std::to_string(j), "Identity"));
  return in(name, "ModuleList", std::move(list));
}

/// Attention and feed-forward of shared block `id`.
Part shared_block(const Config& c, Classes k, const SharedBlocks& b, Size id) {
  const Size hidden = b.hidden, wide = b.wide;
  const Heads& heads = b.heads;
  const Size width = b.width;
  Part attn = linear("q_proj", wide, heads.query * heads.dim) +
              linear("k_proj", wide, heads.kv * heads.dim) +
              linear("v_proj", wide, heads.kv * heads.dim) +
              linear("o_proj", heads.query * heads.dim, hidden);
  if (c.flag({"use_shared_attention_adapter"}, false))
    attn = std::move(attn) + adapters(b, "linear_q_adapter_list", id, wide, wide) +
           adapters(b, "linear_k_adapter_list", id, wide, wide) +
           adapters(b, "linear_v_adapter_list", id, wide, wide);
  attn.caches = {kv_cache(heads)};
  return in("self_attn", k("Attention"), std::move(attn)) +
         in("feed_forward", k("MLP"),
            linear("gate_up_proj", hidden, 2 * width, b.bias) +
                linear("down_proj", width, hidden, b.bias) +
                module("act_fn", activation_class(c, {"hidden_act"}, "gelu")) +
                adapters(b, "gate_up_proj_adapter_list", id, hidden, 2 * width)) +
         rms_norm("input_layernorm", k("RMSNorm"), wide) +
         rms_norm("pre_ff_layernorm", k("RMSNorm"), hidden);
}

/// Source: transformers 5.23, models/zamba2. num_mem_blocks shared blocks take turns. Each has one
/// adapter (a low-rank addition) for every hybrid layer that it serves. The widths of attention and
/// of Mamba's heads are derived, unless the config states them.
Part zamba2(const Config& c) {
  const Classes k{"Zamba2"};
  const Size hidden = c.dim({"hidden_size"});
  const Size wide = c.dim({"attention_hidden_size"}, 2 * hidden);
  const Size query = c.dim({"num_attention_heads"});
  const Heads heads{query, c.dim({"num_key_value_heads"}, query),
                    c.dim({"attention_head_dim"}, 2 * hidden / query)};
  const Size inner = expanded(c, hidden, "mamba_expand"), n = c.dim({"n_mamba_heads"}, 8);
  const Bias bias = c.bias({"add_bias_linear"}, false);
  const Mamba2 m{.inner = inner,
                 .heads = n,
                 .dim = c.dim({"mamba_headdim"}, inner / n),
                 .groups = c.dim({"mamba_ngroups"}, 1),
                 .state = c.dim({"mamba_d_state"}, 64),
                 .kernel = c.dim({"mamba_d_conv"}, 4),
                 .conv_bias = Bias::yes,
                 .bias = bias};
  const Part mamba =
      in("mamba", k("MambaMixer"), mamba2_mixer(hidden, m, k("RMSNormGated"), "SiLU")) +
      rms_norm("input_layernorm", k("RMSNorm"), hidden);
  const auto types = c.texts({"layers_block_type", "layer_types"});
  const auto hybrid = [&](Size i) {
    const bool late = i == 47 || i == 51;
    return is_hybrid(c, types, i, (i > 0 && i <= 42 && i % 6 == 0) || late);
  };
  std::vector<Size> hybrids;
  for (Size i = 0; i < c.dim({"num_hidden_layers"}); ++i)
    if (hybrid(i)) hybrids.push_back(i);
  const Size blocks = c.dim({"num_mem_blocks"}, 1), rank = c.dim({"adapter_rank"}, 128);
  const Size width = c.dim({"intermediate_size"}, 4 * hidden);
  const SharedBlocks all{hidden, wide, heads, bias, hybrids, blocks, rank, width};
  return frame(
      c, k, hybrid,
      [&](Size i) {
        if (!hybrid(i)) return mamba;
        const auto turn = std::find(hybrids.begin(), hybrids.end(), i) - hybrids.begin();
        const Size id = static_cast<Size>(turn) % blocks;
        return linear("linear", hidden, hidden) +
               in("mamba_decoder", k("MambaDecoderLayer"), mamba) +
               shared(shared_block(c, k, all, id), "shared_transformer", k("AttentionDecoderLayer"),
                      i, hybrids[static_cast<std::size_t>(id)]);
      },
      c.flag({"use_mem_rope"}, false)
          ? rotary(k("RotaryEmbedding"), rotated_if_scaled(c, heads.dim))
          : Part{});
}

}  // namespace headroom::model::families::zamba
