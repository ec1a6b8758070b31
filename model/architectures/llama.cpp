// Llama and the decoders that changed only numbers in it.
#include "model/activation_function.hpp"
#include "model/architectures/decoder.hpp"
#include "model/architectures/families.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/llama/modeling_llama.py, configuration_llama.py.
Part llama(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Heads heads = heads_of(c);
  const Bias attention_bias = c.bias({"attention_bias"}, false);
  const Bias mlp_bias = c.bias({"mlp_bias"}, false);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  return decoder(c, {"Llama", heads.dim, rms_norm("norm", "LlamaRMSNorm", hidden)}, [&](Size) {
    return in("self_attn", "LlamaAttention",
              attention(hidden, heads, attention_bias, attention_bias)) +
           in("mlp", "LlamaMLP", gated_mlp(hidden, inner, act, mlp_bias)) +
           rms_norm("input_layernorm", "LlamaRMSNorm", hidden) +
           rms_norm("post_attention_layernorm", "LlamaRMSNorm", hidden);
  });
}

}  // namespace headroom::model::families
