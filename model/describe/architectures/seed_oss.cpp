// Seed-OSS: Llama with biases on queries, keys and values.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::seed_oss {

/// Source: transformers 5.23, models/seed_oss/{configuration,modeling}_seed_oss.py.
Part seed_oss_trunk(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 8, .head_dim = 128});
  const Bias b = c.bias({"attention_bias"}, true), out = c.bias({"attention_out_bias"}, false);
  const Bias mlp = c.bias({"mlp_bias"}, false);
  const Classes k{"SeedOss"};
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&] {
    return in("self_attn", k("Attention"), attention(s.hidden, s.heads, b, out)) +
           gated_rest(s, "SeedOss", mlp);
  });
}
Part seed_oss(const Config& c) { return causal_lm(c, "SeedOssModel", seed_oss_trunk(c)); }

}  // namespace headroom::model::families::seed_oss
