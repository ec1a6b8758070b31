// InternLM and InternLM2 (arXiv:2403.17297) as their own code has them. The first is Llama with
// biases in attention; the second has one projection for queries, keys and values.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::internlm {

/// Source: modeling_internlm.py of internlm/internlm-chat-7b, as vLLM 0.22 loads it (llama.py).
Part internlm(const Config& c) {
  const Common s = common_of(c);
  const Bias bias = c.bias({"bias"}, true);
  return causal_lm(
      c, "InternLMModel", trunk(c, {"InternLM"}, rotated_if_scaled(c, s.heads.dim), [&] {
        return in("self_attn", "InternLMAttention", attention(s.hidden, s.heads, bias, bias)) +
               gated_rest(s, "InternLM");
      }));
}

/// Source: vLLM 0.33 internlm2.py, with the names of the checkpoint.
Part internlm2(const Config& c) {
  const Classes k{"InternLM2"};
  const Common s = common_of(c);
  const Size vocab = c.dim({"vocab_size"});
  const Part layer = in("attention", k("Attention"),
                        fused_attention(s.hidden, s.heads, "wqkv", "wo", c.bias({"bias"}, false))) +
                     in("feed_forward", k("MLP"),
                        linear("w1", s.hidden, s.inner) + linear("w3", s.hidden, s.inner) +
                            linear("w2", s.inner, s.hidden) + module("act_fn", s.act)) +
                     rms_norm("attention_norm", k("RMSNorm"), s.hidden) +
                     rms_norm("ffn_norm", k("RMSNorm"), s.hidden);
  Part head = linear("output", s.hidden, vocab);
  head.tensors[0].role = Role::head;
  if (c.flag({"tie_word_embeddings"}, false))
    head.tensors[0].tied_to = "model.tok_embeddings.weight";
  return unsplittable(in("model", k("Model"),
                         embedding("tok_embeddings", vocab, s.hidden) +
                             stack("layers", k("DecoderLayer"), s.layers, [&] { return layer; }) +
                             rms_norm("norm", k("RMSNorm"), s.hidden) +
                             rotary(k("RotaryEmbedding"), rotated_if_scaled(c, s.heads.dim))) +
                          std::move(head),
                      {k("DecoderLayer")});
}

/// A score for each token instead of the head. Sources: vLLM 0.33 internlm2.py; SGLang 0.5.23
/// internlm2_reward.py.
Part internlm2_reward(const Config& c) {
  return without(internlm2(c), "output") + linear("v_head", c.dim({"hidden_size"}), 1);
}

}  // namespace headroom::model::families::internlm
