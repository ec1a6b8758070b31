// IQuest-Coder Loop: Llama whose stack every token runs through several times. The first run's keys
// and values serve all runs; each later run adds its own of a short window.
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::iquest_loopcoder {

/// Source: vLLM 0.33 iquest_loopcoder.py. Later runs read the first run's cache again, so its
/// scores count once a run. Its bytes count once.
Part iquest_loopcoder(const Config& c) {
  const Classes k{"IQuestLoopCoder"};
  const Common s = common_of(c);
  const Size runs = c.dim({"loop_num"}, 2), window = c.dim({"loop_window_size"}, 64);
  if (runs > most_layers)
    c.fail("loop_num", "found " + std::to_string(runs) + ", at most " +
                           std::to_string(most_layers) + " are supported");
  Part attn = attention(s.hidden, s.heads);
  attn.caches[0].score_dims = times({runs, attn.caches[0].score_dims});
  if (runs > 1) {
    Cache local = kv_cache(s.heads, window);
    local.per_token = times({runs - 1, local.per_token});
    local.score_dims = times({runs - 1, local.score_dims});
    attn.caches.push_back(std::move(local));
  }
  const Part layer =
      in("self_attn", k("Attention"), std::move(attn)) + gated_rest(s, "IQuestLoopCoder");
  const std::string block = k("DecoderLayer");
  Part body = embedding("embed_tokens", c.dim({"vocab_size"}), s.hidden) +
              repeated(stack("layers", block, s.layers, [&] { return layer; }), runs) +
              rms_norm("norm", k("RMSNorm"), s.hidden) +
              rotary(k("RotaryEmbedding"), rotated_if_scaled(c, s.heads.dim));
  Part gates = empty_stack("gate_projections", s.layers);
  for (Size i = 0; i < s.layers; ++i)
    gates = std::move(gates) + at("gate_projections",
                                  linear(std::to_string(i), s.heads.dim, s.heads.query, Bias::yes));
  return causal_lm(c, k("Model"), unsplittable(std::move(body) + std::move(gates), {block}));
}

}  // namespace headroom::model::families::iquest_loopcoder
