// Kimi Linear (arXiv:2510.26692) and Ling 3 (Bailing hybrid): Kimi delta attention between layers
// of latent attention. Kimi delta attention is a gated delta rule with a gate for each channel.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/words.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::kimi_linear {

/// Delta attention with keys and values of the same width.
DeltaNet delta_heads(Size heads, Size dim, Size kernel) {
  return {.key_heads = heads,
          .value_heads = heads,
          .key_dim = dim,
          .value_dim = dim,
          .kernel = kernel,
          .type = channel_gated_state};
}

Part projections(Size hidden, const DeltaNet& d) {
  return linear("q_proj", hidden, d.key()) + linear("k_proj", hidden, d.key()) +
         linear("v_proj", hidden, d.value()) +
         depthwise_conv("conv1d", d.convolved(), d.kernel, Bias::no);
}

Part feed_forward(const Config& c, Classes k, Size i, Size dense) {
  const Size experts = shared_routing_of(c).experts;
  return is_sparse(c, i, dense) ? shared_mixture(c, k, k("MoE"),
                                                 corrected_router("gate", k("TopkRouter"),
                                                                  c.dim({"hidden_size"}), experts))
                                : dense_mlp(c, k);
}

/// Source: transformers 5.23, models/kimi_linear. There are no rotary tables. layer_types gives the
/// kinds of layers, else the lists of linear_attn_config, which count from 1. Without both, every
/// fourth layer has full attention.
Part kimi_linear(const Config& c) {
  const Classes k{"KimiLinear"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Config own = c.section_or_empty("linear_attn_config");
  const DeltaNet d =
      delta_heads(own.dim({"num_heads"}, c.dim({"linear_num_heads"}, 32)),
                  own.dim({"head_dim"}, c.dim({"linear_head_dim"}, 128)),
                  own.dim({"short_conv_kernel_size"}, c.dim({"linear_conv_kernel_dim"}, 4)));
  const Size rank = d.key_dim;
  Part delta = projections(hidden, d) +
               in("forget_gate", k("ForgetGate"),
                  tensor("dt_bias", {d.key()}, Role::other) +
                      tensor("A_log", {1, 1, d.key_heads, 1}, Role::other) +
                      linear("f_a_proj", hidden, rank) + linear("f_b_proj", rank, d.key())) +
               linear("b_proj", hidden, d.key_heads) + linear("g_a_proj", hidden, rank) +
               linear("g_b_proj", rank, d.key()) +
               rms_norm("o_norm", k("RMSNormGated"), d.value_dim) +
               linear("o_proj", d.value(), hidden);
  delta.caches = {delta_net_state(d)};
  const Part full =
      latent_attention(hidden, latent_of(c), k("RMSNorm"), c.bias({"attention_bias"}, false));
  const auto types = c.texts({"layer_types"});
  const auto listed = own.dims({"full_attn_layers"});
  const auto attends = [&](Size i) {
    if (!types.empty()) return layer_type(c, types, i) == "full_attention";
    if (!listed.empty()) return std::find(listed.begin(), listed.end(), i + 1) != listed.end();
    return i > 0 && i % 4 == 0;
  };
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    return (attends(i) ? in("self_attn", k("Attention"), full)
                       : in("self_attn", k("DeltaAttention"), delta)) +
           feed_forward(c, k, i, 1) + rms_norm("input_layernorm", k("RMSNorm"), hidden) +
           rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
  });
  return with_quirks(unsplittable(in("model", k("Model"),
                                     embedding("embed_tokens", vocab, hidden) + layers +
                                         rms_norm("norm", k("RMSNorm"), hidden)) +
                                      output_head("lm_head", hidden, vocab),
                                  {k("DecoderLayer")}),
                     {.router = {.kind = RouterKind::sigmoid}});
}

/// The head is never tied. Source: transformers 5.23, models/bailing_hybrid.
Part bailing_hybrid(const Config& c) {
  const Classes k{"BailingHybrid"};
  const Size hidden = c.dim({"hidden_size"});
  const Latent a = latent_of(c);
  const DeltaNet d = delta_heads(a.heads, c.dim({"linear_head_dim", "head_dim"}, 128),
                                 c.dim({"short_conv_kernel_size"}, 4));
  Part delta =
      projections(hidden, d) +
      in("forget_gate", k("ForgetGate"),
         tensor("A_log", {d.key_heads}, Role::other) + tensor("dt_bias", {d.key()}, Role::other) +
             linear("f_proj", hidden, d.key())) +
      linear("b_proj", hidden, d.key_heads) + rms_norm("o_norm", k("RMSNormGated"), d.value_dim) +
      linear("o_proj", d.value(), hidden) + linear("g_proj", hidden, d.value());
  delta.caches = {delta_net_state(d)};
  const Part full = latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false)) +
                    linear("g_proj", hidden, a.heads);
  const auto types = c.texts({"layer_types"});
  const Size group = c.dim({"layer_group_size"}, 6);
  Part body = trunk(c, k, rotated_if_scaled(c, a.rope), [&](Size i) {
    const bool attends =
        types.empty() ? (i + 1) % group == 0 : layer_type(c, types, i) == "full_attention";
    return (attends ? in("self_attn", k("Attention"), full)
                    : in("self_attn", k("DeltaAttention"), delta)) +
           feed_forward(c, k, i, 2) + rms_norm("input_layernorm", k("RMSNorm"), hidden) +
           rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
  });
  return with_quirks(
      in("model", k("Model"), std::move(body)) +
          output_head("lm_head", hidden, c.dim({"vocab_size"})),
      {.attention = {.gate_in_fp32 = true},
       .router = {.kind = RouterKind::sigmoid},
       .mixer = {.bounded_gate = c.flag({"kda_safe_gate"}, true), .decay_as_held = true}});
}

}  // namespace headroom::model::families::kimi_linear
