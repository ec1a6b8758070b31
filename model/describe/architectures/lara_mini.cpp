// Lara 4 Mini: gated delta nets, attention over a window and attention over the whole context in
// turn. Each layer has a mixture of experts and one expert of every token.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/qwen.hpp"

namespace headroom::model::families::lara_mini {

/// Source: transformers 5.24, models/lara_mini/{configuration,modeling}_lara_mini.py.
Part lara_mini(const Config& c) {
  const Classes k{"LaraMini"};
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const Heads heads = heads_of(c, Defaults{.kv_heads = 4, .head_dim = 128});
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size window = c.dim({"sliding_window"}, 512);
  const DeltaNet d = delta_net_of(c);
  const Part delta = gated_delta_net(
      hidden, d, k("RMSNormGated"),
      linear("in_proj_qkv", hidden, d.convolved()) + linear("in_proj_z", hidden, d.value()) +
          linear("in_proj_b", hidden, d.value_heads) + linear("in_proj_a", hidden, d.value_heads),
      Inputs::last);
  const Routing r = routing_of(c, {"num_experts"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Part mixture =
      in("mlp", k("SparseMoeBlock"),
         fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r, act) +
             router("gate", k("TopKRouter"), hidden, r.experts) +
             in("shared_expert", k("MLP"),
                gated_mlp(hidden, c.count({"shared_expert_intermediate_size"}), act)));
  const auto types = layer_types(c, layers,
                                 [](Size i) {
                                   return i % 5 == 3                 ? "full_attention"
                                          : i % 5 == 1 || i % 5 == 4 ? "sliding_attention"
                                                                     : "linear_attention";
                                 },
                                 {"full_attention", "sliding_attention", "linear_attention"});
  const auto mixer = [&](const std::string& type) {
    if (type == "linear_attention") return in("linear_attn", k("GatedDeltaNet"), delta);
    return in("self_attn", k("Attention"),
              attention(hidden, heads, bias, bias, window_of(type, window)) +
                  head_norms(k("RMSNorm"), heads.dim));
  };
  return decoder(c,
                 Decoder{.family = "LaraMini",
                         .rotated = rotated_if_scaled(c, heads.dim),
                         .norm = rms_norm("norm", k("RMSNorm"), hidden),
                         .tied = Tied::yes},
                 [&](Size i) {
                   return mixer(types[static_cast<std::size_t>(i)]) + mixture +
                          rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                          rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
                 });
}

}  // namespace headroom::model::families::lara_mini
