// RWKV-7 (arXiv:2503.14456), and its recurrence in place of Qwen2's attention (ARWKV,
// arXiv:2501.15570). Decay, learning rate, values and gate depend on the token through matrices of
// low rank.
#include <cmath>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/words.hpp"
#include "model/describe/blocks/recurrent.hpp"

namespace headroom::model::families::rwkv7 {

/// A rank by its key, else the nearest multiple of 32 to `factor` · hidden^`power`.
Size rank_of(const Config& c, std::string_view key, Size hidden, double power, double factor) {
  if (const Size said = c.dim_or_none({key}, 0); said > 0) return said;
  const double exact = std::pow(static_cast<double>(hidden), power) * factor / 32;
  return std::max<Size>(1, std::llround(exact)) * 32;
}

/// A matrix of head x head for each head in fp32, and the last input of `shifted` halves.
Cache state_of(Size hidden, Size head, Size shifted) {
  return shifted_state(hidden, shifted, times({hidden, head}), StateType::fp32);
}

Part lerps(std::initializer_list<std::string_view> names, Size hidden) {
  Part p;
  for (const auto name : names) p = std::move(p) + tensor(name, {1, 1, hidden}, Role::other);
  return p;
}

Part low_rank(std::string_view name, Size hidden, Size rank, Bias bias) {
  return in(
      name, "LoRA",
      in("lora", "Sequential",
         linear("0", hidden, rank) + module("1", "Activation") + linear("2", rank, hidden, bias)));
}

/// Sources: flash-linear-attention, fla/layers/rwkv7.py and fla/models/rwkv7, as llama.cpp
/// conversion/rwkv.py and src/models/rwkv7.cpp read them. The first layer has no values before it
/// to mix with.
Part rwkv7(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size head = c.dim({"head_dim", "head_size"}, 64);
  if (hidden % head != 0)
    c.fail("head_dim", "found " + std::to_string(head) + ", expected a divisor of hidden_size");
  const Size inner =
      c.dim_or_none({"intermediate_size"}, 0) > 0 ? c.dim({"intermediate_size"}) : 4 * hidden;
  const Size decay = rank_of(c, "decay_low_rank_dim", hidden, 0.5, 1.8);
  const Size learning = rank_of(c, "a_low_rank_dim", hidden, 0.5, 1.8);
  const Size values = rank_of(c, "v_low_rank_dim", hidden, 0.5, 1.3);
  const Size gate = rank_of(c, "gate_low_rank_dim", hidden, 0.8, 0.6);
  const Bias bias = c.bias({"norm_bias"}, true);
  const auto attention = [&](Size i) {
    Part p = lerps({"x_r", "x_w", "x_k", "x_v", "x_a", "x_g"}, hidden) +
             tensor("k_k", {hidden}, Role::other) + tensor("k_a", {hidden}, Role::other) +
             tensor("r_k", {hidden / head, head}, Role::other) + linear("r_proj", hidden, hidden) +
             linear("k_proj", hidden, hidden) + linear("v_proj", hidden, hidden) +
             linear("o_proj", hidden, hidden) + low_rank("w_lora", hidden, decay, Bias::yes) +
             (i > 0 ? low_rank("v_lora", hidden, values, Bias::yes) : Part{}) +
             low_rank("a_lora", hidden, learning, Bias::yes) +
             low_rank("g_lora", hidden, gate, Bias::no) + layer_norm("g_norm", hidden);
    p.caches = {state_of(hidden, head, 2)};
    return p;
  };
  const Part feed_forward = tensor("x_k", {hidden}, Role::other) + linear("key", hidden, inner) +
                            linear("value", inner, hidden);
  const Part layers = stack("layers", "RWKV7Block", c.dim({"num_hidden_layers"}), [&](Size i) {
    return (i == 0 ? layer_norm("pre_norm", hidden, bias) : Part{}) +
           layer_norm("attn_norm", hidden, bias) + in("attn", "RWKV7Attention", attention(i)) +
           layer_norm("ffn_norm", hidden, bias) + in("ffn", "RWKV7FeedForward", feed_forward);
  });
  return unsplittable(
      in("model", "RWKV7Model",
         embedding("embeddings", vocab, hidden) + layers + layer_norm("norm", hidden, bias)) +
          lm_head("model.embeddings.weight", vocab, hidden, c.flag({"tie_word_embeddings"}, false)),
      {"RWKV7Block"});
}

/// Names of one low rank of the original code: a bias and two matrices.
Part ranked(const std::string& letter, Size hidden, Size rank) {
  return tensor(letter + "0", {1, 1, hidden}, Role::other) +
         tensor(letter + "1", {hidden, rank}, Role::matmul) +
         tensor(letter + "2", {rank, hidden}, Role::matmul);
}

/// Sources: modeling_rwkv_hybrid.py of RWKV-Red-Team/ARWKV-7B-Preview-0.1, as llama.cpp
/// conversion/rwkv.py (which has its ranks) and src/models/arwkv7.cpp read it.
Part rwkv_hybrid(const Config& c) {
  const Classes k{"RwkvHybrid"};
  const Common s = common_of(c);
  const Size head = c.dim({"head_size"}, 64), version = c.dim({"wkv_version"}, 7);
  if (version != 7) c.fail("wkv_version", "found " + std::to_string(version) + ", expected 7");
  const bool gated = c.flag({"wkv_has_gate"}, false);
  const bool normed = c.flag({"wkv_has_group_norm"}, false);
  if (s.hidden % head != 0)
    c.fail("head_size", "found " + std::to_string(head) + ", expected a divisor of hidden_size");
  const auto mixer = [&](Size i) {
    Part p = lerps({"x_r", "x_w", "x_k", "x_v", "x_a"}, s.hidden) +
             (gated ? lerps({"x_g"}, s.hidden) : Part{}) + ranked("w", s.hidden, 64) +
             ranked("a", s.hidden, 64) + (i > 0 ? ranked("v", s.hidden, 32) : Part{});
    if (gated)
      p = std::move(p) + tensor("g1", {s.hidden, 128}, Role::matmul) +
          tensor("g2", {128, s.hidden}, Role::matmul);
    p = std::move(p) + lerps({"k_k", "k_a"}, s.hidden) +
        tensor("r_k", {s.hidden / head, head}, Role::other) +
        linear("receptance", s.hidden, s.hidden) + linear("key", s.hidden, s.hidden) +
        linear("value", s.hidden, s.hidden) + linear("output", s.hidden, s.hidden) +
        (normed ? layer_norm("ln_x", s.hidden) : Part{});
    p.caches = {state_of(s.hidden, head, 1)};
    return in("self_attn", k("Attention"), in("time_mixer", "Rwkv_Tmix_x070", std::move(p)));
  };
  return causal_lm(c, k("Model"),
                   trunk(c, {"RwkvHybrid", rms_norm("norm", k("RMSNorm"), s.hidden)},
                         [&](Size i) { return mixer(i) + gated_rest(s, "RwkvHybrid"); }));
}

}  // namespace headroom::model::families::rwkv7
