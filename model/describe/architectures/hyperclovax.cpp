// HyperCLOVA X: Granite's multipliers, and optional norms after each half.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::hyperclovax {

/// Source: transformers 5.23, models/hyperclovax/{configuration,modeling}_hyperclovax.py.
Part hyperclovax_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  const Classes k{"HyperCLOVAX"};
  const Part after = c.flag({"use_post_norm"}, true)
                         ? rms_norm("post_norm1", k("RMSNorm"), s.hidden) +
                               rms_norm("post_norm2", k("RMSNorm"), s.hidden)
                         : module("post_norm1", "Identity") + module("post_norm2", "Identity");
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&] {
    return in("self_attn", k("Attention"), attention(s.hidden, s.heads, b, b)) +
           gated_rest(s, "HyperCLOVAX", mlp) + after;
  });
}
Part hyperclovax(const Config& c) { return causal_lm(c, "HyperCLOVAXModel", hyperclovax_trunk(c)); }

}  // namespace headroom::model::families::hyperclovax
