// Apertus: an activation with trained parameters, and norms on queries and keys.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::apertus {

/// xIELU (arXiv:2411.13010): two learned and two fixed numbers.
Part xielu() {
  return in("act_fn", "XIELUActivation",
            tensor("alpha_p", {1}, Role::other) + tensor("alpha_n", {1}, Role::other) +
                buffer("beta", {}, Element::floating, true) +
                buffer("eps", {}, Element::floating, true));
}

/// Source: transformers 5.23, models/apertus/{configuration,modeling}_apertus.py.
Part apertus_trunk(const Config& c) {
  const bool learned = c.text({"hidden_act"}, "xielu") == "xielu";
  const Size hidden = c.dim({"hidden_size"});
  const Common s{hidden, c.dim({"intermediate_size"}), c.dim({"num_hidden_layers"}),
                 heads_of(c, {}), learned ? "" : activation_class(c, {"hidden_act"}, "silu")};
  const Part act = learned ? xielu() : module("act_fn", s.act);
  const Bias b = c.bias({"attention_bias"}, false);
  const Classes k{"Apertus"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&](Size) {
    return in("self_attn", k("Attention"),
              attention(hidden, s.heads, b, b) + head_norms(k("RMSNorm"), s.heads.dim)) +
           in("mlp", k("MLP"), up_down_mlp(s, act, Bias::no)) +
           rms_norm("attention_layernorm", k("RMSNorm"), hidden) +
           rms_norm("feedforward_layernorm", k("RMSNorm"), hidden);
  });
}
Part apertus(const Config& c) { return causal_lm(c, "ApertusModel", apertus_trunk(c)); }

}  // namespace headroom::model::families::apertus
