// Llama and the decoders that changed only numbers in it.
#include "model/activation_function.hpp"
#include "model/architectures/families.hpp"
#include "model/blocks.hpp"

namespace headroom::model::families {

/// Source: transformers 5.23, models/llama/modeling_llama.py, configuration_llama.py.
Part llama(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size inner = c.dim({"intermediate_size"});
  const Heads heads = heads_of(c);
  const Bias attention_bias = c.bias({"attention_bias"}, false);
  const Bias mlp_bias = c.bias({"mlp_bias"}, false);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Part layers = stack("layers", "LlamaDecoderLayer", c.dim({"num_hidden_layers"}), [&](Size) {
    return in("self_attn", "LlamaAttention",
              attention(hidden, heads, attention_bias, attention_bias)) +
           in("mlp", "LlamaMLP", gated_mlp(hidden, inner, act, mlp_bias)) +
           rms_norm("input_layernorm", "LlamaRMSNorm", hidden) +
           rms_norm("post_attention_layernorm", "LlamaRMSNorm", hidden);
  });
  return unsplittable(
      in("model", "LlamaModel",
         embedding("embed_tokens", vocab, hidden) + layers +
             rms_norm("norm", "LlamaRMSNorm", hidden) + rotary("LlamaRotaryEmbedding", heads.dim)) +
          lm_head("model.embed_tokens.weight", vocab, hidden,
                  c.flag({"tie_word_embeddings"}, false)),
      {"LlamaDecoderLayer"});
}

}  // namespace headroom::model::families
