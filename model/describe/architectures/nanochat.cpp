// NanoChat: norms without weights, and squared ReLU without a gate.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::nanochat {

/// Source: transformers 5.23, models/nanochat/{configuration,modeling}_nanochat.py.
Part nanochat_trunk(const Config& c) {
  const Common s = common_of(c, {.act = "relu2"});
  const Bias b = c.bias({"attention_bias"}, false);
  const std::string norm = "NanoChatRMSNorm";
  return with_norm(
      trunk(c,
            {"NanoChat", module("norm", norm),
             rotary("NanoChatRotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
            [&] {
              return in("self_attn", "NanoChatAttention",
                        attention(s.hidden, s.heads, b, b) + module("q_norm", norm) +
                            module("k_norm", norm)) +
                     in("mlp", "NanoChatMLP",
                        module("activation_fn", s.act) + linear("fc1", s.hidden, s.inner) +
                            linear("fc2", s.inner, s.hidden)) +
                     module("input_layernorm", norm) + module("post_attention_layernorm", norm);
            }),
      "NanoChatRMSNorm", NormKind::rms_plain);
}
Part nanochat(const Config& c) { return causal_lm(c, "NanoChatModel", nanochat_trunk(c)); }

}  // namespace headroom::model::families::nanochat
