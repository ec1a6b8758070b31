// FlexOlmo (arXiv:2507.07024) and Olmo Hybrid. They combine OLMo's norms after each half with
// experts or with gated delta nets.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::flex_olmo {

/// Source: transformers 5.23, models/flex_olmo.
Part flex_olmo(const Config& c) {
  const Classes k{"FlexOlmo"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Routing r = routing_of(c, {"num_experts", "num_local_experts"});
  const Part mlp = in("mlp", k("SparseMoeBlock"),
                      router("gate", k("TopKRouter"), hidden, r.experts) +
                          fused_experts(k("Experts"), hidden, c.dim({"intermediate_size"}), r,
                                        activation_class(c, {"hidden_act"}, "silu")));
  return with_norm(
      with_quirks(decoder(c, k, rotated_if_scaled(c, heads.dim),
                          [&] {
                            return in("self_attn", k("Attention"),
                                      attention(hidden, heads, bias, bias) +
                                          layer_norms(k("RMSNorm"), heads)) +
                                   mlp +
                                   rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
                                   rms_norm("post_feedforward_layernorm", k("RMSNorm"), hidden);
                          }),
                  {.attention = {.rotation = Rotation::widened, .rotated_in_fp32 = true}}),
      k("RMSNorm"), NormKind::rms_fp32);
}

/// Source: transformers 5.23, models/olmo_hybrid.
Part olmo_hybrid(const Config& c) {
  const Classes k{"OlmoHybrid"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size layers = c.dim({"num_hidden_layers"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size key_heads = c.dim({"linear_num_key_heads"}, heads.query);
  const Size key_dim =
      c.dim({"linear_key_head_dim"},
            static_cast<Size>(0.75 * static_cast<double>(hidden) / static_cast<double>(key_heads)));
  const DeltaNet d{.key_heads = key_heads,
                   .value_heads = c.dim({"linear_num_value_heads"}, heads.query),
                   .key_dim = key_dim,
                   .value_dim = c.dim({"linear_value_head_dim"}, 2 * key_dim),
                   .kernel = c.dim({"linear_conv_kernel_dim"}, 4)};
  Part delta = tensor("A_log", {d.value_heads}, Role::other) +
               tensor("dt_bias", {d.value_heads}, Role::other) + linear("q_proj", hidden, d.key()) +
               linear("k_proj", hidden, d.key()) + linear("v_proj", hidden, d.value()) +
               linear("a_proj", hidden, d.value_heads) + linear("b_proj", hidden, d.value_heads) +
               linear("g_proj", hidden, d.value()) + linear("o_proj", d.value(), hidden) +
               depthwise_conv("conv1d", d.convolved(), d.kernel, Bias::no) +
               rms_norm("o_norm", k("RMSNormGated"), d.value_dim);
  delta.caches = {delta_net_state(d)};
  const auto full = [&](Size i) {
    const auto types = c.texts({"layer_types"});
    if (!types.empty()) return layer_type(c, types, i) == "full_attention";
    return i % 4 == 3 || (layers < 4 && i == layers - 1);
  };
  const Part attending =
      in("self_attn", k("Attention"),
         attention(hidden, heads, bias, bias) + layer_norms(k("RMSNorm"), heads)) +
      dense_mlp(c, k) + rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
      rms_norm("post_feedforward_layernorm", k("RMSNorm"), hidden);
  const Part recurrent = dense_mlp(c, k) + rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                         rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
                         in("linear_attn", k("GatedDeltaNet"), delta);
  const auto class_of = [&](Size i) {
    return k(full(i) ? "AttentionDecoderLayer" : "LinearAttentionDecoderLayer");
  };
  return with_norm(
      unsplittable(in("model", k("Model"),
                      embedding("embed_tokens", vocab, hidden) +
                          mixed_stack("layers", layers, class_of,
                                      [&](Size i) { return full(i) ? attending : recurrent; }) +
                          rms_norm("norm", k("RMSNorm"), hidden) +
                          rotary(k("RotaryEmbedding"), rotated_if_scaled(c, heads.dim))) +
                       lm_head("model.embed_tokens.weight", vocab, hidden,
                               c.flag({"tie_word_embeddings"}, false)),
                   {k("AttentionDecoderLayer"), k("LinearAttentionDecoderLayer")}),
      k("RMSNorm"), NormKind::rms_fp32);
}

}  // namespace headroom::model::families::flex_olmo
