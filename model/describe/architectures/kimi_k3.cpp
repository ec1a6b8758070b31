// The text model of Kimi K3: Kimi delta attention and gated latent attention in turns, experts in a
// narrower stream, and residuals that attend to earlier blocks of layers.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::kimi_k3 {

const Classes k{"KimiK3"};

/// Kimi delta attention, whose output gate has full rank where `use_full_rank_gate` says so. The
/// checkpoint has a convolution each for queries, keys and values.
Part delta_attention(const Config& own, Size hidden) {
  const Size heads = own.dim({"num_heads"}), dim = own.dim({"head_dim"}), width = heads * dim;
  const Size kernel = own.dim({"short_conv_kernel_size"});
  Part p =
      linear("q_proj", hidden, width) + linear("k_proj", hidden, width) +
      linear("v_proj", hidden, width) + depthwise_conv("q_conv1d", width, kernel, Bias::no) +
      depthwise_conv("k_conv1d", width, kernel, Bias::no) +
      depthwise_conv("v_conv1d", width, kernel, Bias::no) +
      in_fp32(tensor("A_log", {heads}, Role::other) + tensor("dt_bias", {width}, Role::other)) +
      linear("f_a_proj", hidden, dim) + linear("f_b_proj", dim, width) +
      linear("b_proj", hidden, heads);
  p = own.flag({"use_full_rank_gate"}, false)
          ? std::move(p) + linear("g_proj", hidden, width)
          : std::move(p) + linear("g_a_proj", hidden, dim) + linear("g_b_proj", dim, width);
  p = std::move(p) + rms_norm("o_norm", k("RMSNormGated"), dim) + linear("o_proj", width, hidden);
  // vLLM 0.33 layers/mamba/mamba_utils.py kda_state_dtype: fp32.
  p.caches = {recurrent_state(3 * width, kernel, times({heads, dim, dim}), StateType::fp32)};
  return p;
}

/// Latent attention; `mla_use_output_gate` adds a gate on its output.
Part latent_of_layer(const Config& c, Size hidden) {
  const Latent a = latent_of(c);
  Part p = latent_attention(hidden, a, k("RMSNorm"));
  if (!c.flag({"mla_use_output_gate"}, false)) return p;
  return std::move(p) + linear("g_proj", hidden, a.heads * a.value);
}

/// The class of the activation. Kimi K3 has one of its own (SiTU).
std::string act_of(const Config& c) {
  return c.text({"hidden_act"}, "silu") == "situ" ? "SituActivation"
                                                  : activation_class(c, {"hidden_act"}, "silu");
}

/// Experts between a projection to `routed_expert_hidden_size` and one back.
Part mixture_of(const Config& c, Size hidden) {
  const Size inner = c.dim({"moe_intermediate_size"});
  const Size narrow = c.dim_or_none({"routed_expert_hidden_size"}, 0);
  const Size shared = c.count({"num_shared_experts"}, 0);
  const Routing r = shared_routing_of(c);
  const std::string act = act_of(c);
  Part p = router("gate", k("Gate"), hidden, r.experts) +
           at("gate", in_fp32(score_correction(r.experts))) +
           fused_experts(k("Experts"), narrow > 0 ? narrow : hidden, inner, r, act);
  if (shared > 0)
    p = std::move(p) + in("shared_experts", k("MLP"), gated_mlp(hidden, shared * inner, act));
  if (narrow > 0) {
    p = std::move(p) + linear("routed_expert_down_proj", hidden, narrow) +
        linear("routed_expert_up_proj", narrow, hidden);
    if (c.flag({"latent_moe_use_norm"}, false))
      p = std::move(p) + rms_norm("routed_expert_norm", k("RMSNorm"), narrow);
  }
  return in("block_sparse_moe", k("MoE"), std::move(p));
}

/// Weights of the earlier blocks of layers in a residual, by one score for each.
Part residual_scores(std::string_view name, Size hidden) {
  const std::string scope(name);
  return rms_norm(scope + "_res_norm", k("RMSNorm"), hidden) +
         linear(scope + "_res_proj", hidden, 1);
}

/// `part` with the residuals that each layer mixes: those before every `size`-th layer so far.
Part with_residuals(Part part, Size size) {
  Size layer = 0;
  for (Module& m : part.modules) {
    if (m.class_name != k("DecoderLayer")) continue;
    m.quirks.residuals_before = divided_up(layer, size);
    m.quirks.residuals_after = layer / size + 1;
    ++layer;
  }
  return part;
}

/// Sources: vLLM 0.33 models/kimi_k3/nvidia/{model,kda,mla}.py and
/// transformers_utils/configs/kimi_linear.py; SGLang 0.5.23 kimi_k3.py. Lists of layers count from
/// 1. There are no rotations.
Part kimi_k3_text(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size dense = c.count({"first_k_dense_replace"}, 0), every = c.dim({"moe_layer_freq"}, 1);
  const Config own = c.section("linear_attn_config");
  const auto listed = own.dims({"kda_layers"});
  const bool mixes = c.has("num_experts"), scored = c.has("attn_res_block_size");
  const Part delta = delta_attention(own, hidden), full = latent_of_layer(c, hidden);
  const Part plain =
      in("mlp", k("MLP"), gated_mlp(hidden, c.dim({"intermediate_size"}), act_of(c)));
  const Part experts = mixes ? mixture_of(c, hidden) : Part{};
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    const bool linear_layer = std::ranges::find(listed, i + 1) != listed.end();
    return (linear_layer ? in("self_attn", k("DeltaAttention"), delta)
                         : in("self_attn", k("MLAAttention"), full)) +
           (mixes && i >= dense && i % every == 0 ? experts : plain) +
           rms_norm("input_layernorm", k("RMSNorm"), hidden) +
           rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
           (scored ? residual_scores("self_attention", hidden) + residual_scores("mlp", hidden)
                   : Part{});
  });
  Part all = unsplittable(in("model", k("LinearModel"),
                             embedding("embed_tokens", vocab, hidden) + layers +
                                 rms_norm("norm", k("RMSNorm"), hidden) +
                                 (scored ? residual_scores("output_attn", hidden) : Part{})) +
                              lm_head("model.embed_tokens.weight", vocab, hidden,
                                      c.flag({"tie_word_embeddings"}, false)),
                          {k("DecoderLayer")});
  const LayerQuirks quirks{
      .router = {.kind = RouterKind::sigmoid},
      .mixer = {.bounded_gate = own.has("gate_lower_bound"), .beta_in_fp32 = true},
      .bends_up = c.has("activation_situ_linear_beta"),
      .unrecorded = true};
  all = with_quirks(std::move(all), quirks);
  return scored ? with_residuals(std::move(all), c.dim({"attn_res_block_size"})) : all;
}

}  // namespace headroom::model::families::kimi_k3
