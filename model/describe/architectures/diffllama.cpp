// DiffLlama: Llama with differential attention, the difference of two attention maps
// (arXiv:2410.05258).
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::diffllama {

/// Source: transformers 5.23, models/diffllama/{configuration,modeling}_diffllama.py.
Part diffllama_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false);
  const Classes k{"DiffLlama"};
  Part lambdas;
  for (const auto name : {"lambda_q1", "lambda_k1", "lambda_q2", "lambda_k2"})
    lambdas = std::move(lambdas) + tensor(name, {s.heads.dim}, Role::other);
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&] {
    return decoder_layer(
        k, s.hidden, lambdas + attention(s.hidden, s.heads, b, b) + module("groupnorm", "RMSNorm"),
        in("mlp", k("MLP"), gated_mlp(s.hidden, s.inner, s.act)));
  });
}
Part diffllama(const Config& c) { return causal_lm(c, "DiffLlamaModel", diffllama_trunk(c)); }

}  // namespace headroom::model::families::diffllama
