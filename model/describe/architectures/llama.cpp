// Llama, and decoders that differ from it only in sizes.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::llama {

/// Source: transformers 5.23, models/llama/{configuration,modeling}_llama.py.
Part llama_trunk(const Config& c) {
  const Common s = common_of(c);
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  return trunk(c,
               {"Llama", rms_norm("norm", "LlamaRMSNorm", s.hidden),
                rotary("LlamaRotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
               [&] {
                 return in("self_attn", "LlamaAttention", attention(s.hidden, s.heads, b, b)) +
                        gated_rest(s, "Llama", mlp);
               });
}
Part llama(const Config& c) { return causal_lm(c, "LlamaModel", llama_trunk(c)); }

/// One vocabulary for words and codes of images. Source: transformers 5.23, models/emu3.
Part emu3(const Config& c) {
  const Common s = common_of(c, {.kv_heads = 8});
  const Bias b = c.bias({"attention_bias"}, false), mlp = c.bias({"mlp_bias"}, false);
  return causal_lm(c, "Emu3TextModel",
                   trunk(c,
                         {"Emu3", rms_norm("norm", "Emu3RMSNorm", s.hidden),
                          rotary("Emu3RotaryEmbedding", rotated_if_scaled(c, s.heads.dim))},
                         [&] {
                           return in("self_attn", "Emu3Attention",
                                     attention(s.hidden, s.heads, b, b)) +
                                  gated_rest(s, "Emu3", mlp) + module("dropout", "Dropout");
                         }));
}

}  // namespace headroom::model::families::llama
