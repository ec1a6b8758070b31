// MiniCPM 1, 2 and 4 (arXiv:2404.06395), MiniCPM-MoE and MiniCPM-SALA. The first are Llama with
// scaled residuals. SALA has lightning attention (arXiv:2405.17381) between its layers of standard
// attention.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::minicpm {

const Classes k{"MiniCPM"};

/// The usual keys. MiniCPM-S has an activation of its own (FATReLU).
Common sizes_of(const Config& c, Defaults defaults) {
  const bool own = c.text({"hidden_act"}, "silu") == "fatrelu";
  return {c.dim({"hidden_size"}), c.dim({"intermediate_size"}), c.dim({"num_hidden_layers"}),
          heads_of(c, defaults), own ? "FATReLU" : activation_class(c, {"hidden_act"}, "silu")};
}

/// The feed-forward, or experts where `num_experts` says so.
Part feed_forward(const Config& c, const Common& s) {
  if (c.count({"num_experts"}, 0) == 0)
    return in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act));
  const Routing r = routing_of(c, {"num_experts"});
  return in("mlp", k("MoE"),
            router("gate", "Linear", s.hidden, r.experts) +
                fused_experts(k("Experts"), s.hidden, s.inner, r, s.act));
}

/// Source: vLLM 0.33 minicpm.py; SGLang 0.5.23 minicpm.py. The config class of the checkpoints
/// (configuration_minicpm.py) ties the head.
Part minicpm(const Config& c) {
  const Common s = sizes_of(c, {});
  const Part mlp = feed_forward(c, s);
  return decoder(c,
                 Decoder{.family = "MiniCPM",
                         .rotated = rotated_if_scaled(c, s.heads.dim),
                         .norm = rms_norm("norm", k("RMSNorm"), s.hidden),
                         .tied = Tied::yes},
                 [&] { return decoder_layer(k, s.hidden, attention(s.hidden, s.heads), mlp); });
}

/// True for each layer of standard attention. A list that is too short is repeated.
std::vector<bool> attending_layers(const Config& c, Size layers) {
  static constexpr std::string_view standard[] = {"minicpm4", "minicpm", "standard", "attention",
                                                  "attn"};
  static constexpr std::string_view linear[] = {"lightning", "lightning_attn", "lightning-attn"};
  const auto kinds = c.texts({"mixer_types"});
  std::vector<bool> all(static_cast<std::size_t>(layers), true);
  for (std::size_t i = 0; i < all.size() && !kinds.empty(); ++i) {
    const std::string& kind = kinds[i % kinds.size()];
    all[i] = std::ranges::find(standard, kind) != std::end(standard);
    if (!all[i] && std::ranges::find(linear, kind) == std::end(linear))
      c.fail("mixer_types", "found '" + kind + "', expected minicpm4 or lightning-attn");
  }
  return all;
}

/// Lightning attention: each head keeps a matrix of its width squared.
Part lightning(const Config& c, const Common& s) {
  const Bias bias = c.bias({"attention_bias"}, false);
  const Heads h{c.dim({"lightning_nh"}, s.heads.query), c.dim({"lightning_nkv"}, s.heads.kv),
                c.dim({"lightning_head_dim"}, s.heads.dim)};
  const Size width = h.query * h.dim;
  Part p = attention(s.hidden, h, bias, bias);
  if (c.flag({"use_output_norm"}, false))
    p = std::move(p) + rms_norm("o_norm", k("RMSNorm"), width);
  if (c.flag({"use_output_gate"}, false))
    p = std::move(p) + linear("z_proj", s.hidden, width, bias);
  if (c.flag({"qk_norm"}, true)) p = std::move(p) + head_norms(k("RMSNorm"), h.dim);
  p.caches = {{.kind = CacheKind::recurrent, .per_sequence = times({h.kv, h.dim, h.dim})}};
  return p;
}

/// Source: SGLang 0.5.23 minicpm.py and configs/minicpm.py (MiniCPMSALAForCausalLM).
Part minicpm_sala(const Config& c) {
  const Common s = sizes_of(c, {.kv_heads = 8});
  if (s.layers > most_layers)
    c.fail("num_hidden_layers", "found " + std::to_string(s.layers) + ", at most " +
                                    std::to_string(most_layers) + " are supported");
  const Bias bias = c.bias({"attention_bias"}, false);
  const auto attends = attending_layers(c, s.layers);
  Part full = attention(s.hidden, s.heads, bias, bias);
  if (c.flag({"attn_use_output_gate"}, false))
    full = std::move(full) + linear("o_gate", s.hidden, s.heads.query * s.heads.dim, bias);
  const Part linear_attention = lightning(c, s), mlp = feed_forward(c, s);
  return decoder(c, k, rotated_if_scaled(c, s.heads.dim), [&](Size i) {
    return decoder_layer(k, s.hidden,
                         attends[static_cast<std::size_t>(i)] ? full : linear_attention, mlp);
  });
}

}  // namespace headroom::model::families::minicpm
