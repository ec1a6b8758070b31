// RWKV-6 (arXiv:2404.05892), and its recurrence in place of Qwen2's attention (arXiv:2505.03005).
// Mixing and decay depend on the token through matrices of low rank.
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/words.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::rwkv6 {

struct Sizes {
  Size hidden, attended, head, mix_rank, decay_rank;
};

/// Ranks that the code derives from the width, unless the config names them.
Sizes sizes_of(const Config& c, Size head, bool wide) {
  const Size hidden = c.dim({"hidden_size"}), attended = c.dim({"attention_hidden_size"}, hidden);
  if (attended % head != 0)
    c.fail("head_size",
           "found " + std::to_string(head) + ", expected a divisor of " + std::to_string(attended));
  return {hidden, attended, head, c.dim({"lora_rank_tokenshift"}, wide ? 64 : 32),
          c.dim({"lora_rank_decay"}, wide ? 128 : 64)};
}

Part lerp(std::string_view name, Size hidden) { return tensor(name, {1, 1, hidden}, Role::other); }

/// How a token mixes with the one before it, and the decay.
Part mixing(const Sizes& s) {
  Part p;
  for (const auto name :
       {"time_maa_x", "time_maa_w", "time_maa_k", "time_maa_v", "time_maa_r", "time_maa_g"})
    p = std::move(p) + lerp(name, s.hidden);
  return std::move(p) + tensor("time_maa_w1", {s.hidden, 5 * s.mix_rank}, Role::matmul) +
         tensor("time_maa_w2", {5, s.mix_rank, s.hidden}, Role::matmul) +
         lerp("time_decay", s.attended) +
         tensor("time_decay_w1", {s.hidden, s.decay_rank}, Role::matmul) +
         tensor("time_decay_w2", {s.decay_rank, s.attended}, Role::matmul);
}

/// A matrix of head x head for each head in fp32, and the last input of `shifted` halves.
Cache state_of(const Sizes& s, Size shifted) {
  return shifted_state(s.hidden, shifted, times({s.attended, s.head}), StateType::fp32);
}

/// Source: modeling_rwkv6.py of RWKV/v6-Finch-1B6-HF, as llama.cpp conversion/rwkv.py and
/// src/models/rwkv6.cpp read it.
Part rwkv6(const Config& c) {
  const Sizes s = sizes_of(c, c.dim({"head_size"}, 64), c.dim({"hidden_size"}) == 4096);
  const Size vocab = c.dim({"vocab_size"});
  const Size inner = c.dim_or_none({"intermediate_size"}, 0) > 0 ? c.dim({"intermediate_size"})
                                                                 : s.hidden * 7 / 2 / 32 * 32;
  Part attention = mixing(s) + tensor("time_faaaa", {s.attended / s.head, s.head}, Role::other) +
                   module("time_shift", "ZeroPad2d") + linear("receptance", s.hidden, s.attended) +
                   linear("key", s.hidden, s.attended) + linear("value", s.hidden, s.attended) +
                   linear("output", s.attended, s.hidden) + linear("gate", s.hidden, s.attended) +
                   layer_norm("ln_x", s.attended);
  attention.caches = {state_of(s, 2)};
  const Part feed_forward =
      lerp("time_maa_k", s.hidden) + lerp("time_maa_r", s.hidden) + linear("key", s.hidden, inner) +
      linear("receptance", s.hidden, s.hidden) + linear("value", inner, s.hidden);
  const Part blocks = stack("blocks", "Rwkv6Block", c.dim({"num_hidden_layers"}), [&](Size i) {
    return (i == 0 ? layer_norm("pre_ln", s.hidden) : Part{}) + layer_norm("ln1", s.hidden) +
           layer_norm("ln2", s.hidden) + in("attention", "Rwkv6SelfAttention", attention) +
           in("feed_forward", "Rwkv6FeedForward", feed_forward);
  });
  Part head = output_head("head", s.hidden, vocab);
  if (c.flag({"tie_word_embeddings"}, false)) head.tensors[0].tied_to = "rwkv.embeddings.weight";
  return unsplittable(
      in("rwkv", "Rwkv6Model",
         embedding("embeddings", vocab, s.hidden) + blocks + layer_norm("ln_out", s.hidden)) +
          std::move(head),
      {"Rwkv6Block"});
}

/// Source: modeling_rwkv6qwen2.py of recursal/QRWKV6-32B-Instruct-Preview-v0.1, as llama.cpp
/// conversion/rwkv.py and src/models/rwkv6qwen2.cpp read it.
Part rwkv6qwen2(const Config& c) {
  const Classes k{"RWKV6Qwen2"};
  const Common common = common_of(c);
  const Sizes s = sizes_of(c, common.heads.dim, common.hidden >= 4096);
  const Bias bias = c.bias({"attention_bias"}, true);
  const Size kv = common.heads.kv * common.heads.dim;
  Part attention = mixing(s) + linear("q_proj", s.hidden, s.attended, bias) +
                   linear("k_proj", s.hidden, kv, bias) + linear("v_proj", s.hidden, kv, bias) +
                   linear("o_proj", s.attended, s.hidden) + linear("gate", s.hidden, s.attended);
  attention.caches = {state_of(s, 1)};
  const Part layer =
      in("self_attn", k("Attention"), std::move(attention)) + gated_rest(common, "RWKV6Qwen2");
  return causal_lm(
      c, k("Model"),
      trunk(c, {"RWKV6Qwen2", rms_norm("norm", k("RMSNorm"), s.hidden)}, [&] { return layer; }));
}

}  // namespace headroom::model::families::rwkv6
