// Baichuan and Baichuan2 (arXiv:2309.10305) as their own code has them: Llama with one projection
// for queries, keys and values. The 13B models have linear position biases instead of rotations.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::baichuan {

/// Source: SGLang 0.5.23 baichuan.py. The class of the first 7B model always rotates; the other
/// rotates where hidden_size is 4096.
Part baichuan(const Config& c) {
  const Common s = common_of(c);
  const bool rotates = c.class_name() == "BaiChuanForCausalLM" || s.hidden == 4096;
  const Classes k{"Baichuan"};
  Trunk frame{std::string(k.family), rms_norm("norm", k("RMSNorm"), s.hidden)};
  if (rotates) frame.rotary = rotary(k("RotaryEmbedding"), s.heads.dim);
  return with_quirks(
      causal_lm(c, k("Model"),
                trunk(c, frame,
                      [&] {
                        return in("self_attn", k("Attention"),
                                  fused_attention(s.hidden, s.heads, "W_pack", "o_proj")) +
                               gated_rest(s, "Baichuan");
                      })),
      {.attention = {.rotation = rotates ? Rotation::added : Rotation::none}});
}

}  // namespace headroom::model::families::baichuan
