// Ouro (arXiv:2510.25741): Llama whose stack every token runs through several times, with norms
// before and after each half, and a gate that may stop early.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::ouro {

/// Each run has keys and values of its own. A run that the gate stops early still has them, since
/// later tokens may run on. Source: modeling_ouro.py of ByteDance/Ouro-1.4B, as in github
/// LoopedLMs/ouro_rl@0d7e8e4 ouro_rl/modeling (OuroAttention, OuroModel).
Part ouro(const Config& c) {
  const Classes k{"Ouro"};
  const Common s = common_of(c);
  const Size runs = c.dim({"total_ut_steps"}, 4);
  if (runs > most_layers)
    c.fail("total_ut_steps", "found " + std::to_string(runs) + ", at most " +
                                 std::to_string(most_layers) + " are supported");
  const Size window =
      c.flag({"use_sliding_window"}, false) ? c.dim_or_none({"sliding_window"}, 4096) : 0;
  const Size full = c.count({"max_window_layers"}, 28);
  const auto types = layer_types(c, s.layers, [&](Size i) {
    return window > 0 && i >= full ? "sliding_attention" : "full_attention";
  });
  Part body = trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&](Size i) {
    const Size tokens = window_of(types[static_cast<std::size_t>(i)], window);
    return in("self_attn", k("Attention"),
              cached_by_each(attention(s.hidden, s.heads, Bias::no, Bias::no, tokens), runs)) +
           gated_rest(s, "Ouro") + rms_norm("input_layernorm_2", k("RMSNorm"), s.hidden) +
           rms_norm("post_attention_layernorm_2", k("RMSNorm"), s.hidden);
  });
  return causal_lm(c, k("Model"),
                   layers_repeated(std::move(body), "layers", 0, s.layers, runs) +
                       linear("early_exit_gate", s.hidden, 1, Bias::yes));
}

}  // namespace headroom::model::families::ouro
