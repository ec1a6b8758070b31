// IQuest Q1: a mixture without shared experts. Three of four layers have a sliding window, and a
// learned key takes part in every score.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::iquest_q1 {

/// Kinds of layers: the first ones, a pattern that repeats, and the last ones.
std::vector<std::string> kinds_of(const Config& c, Size layers) {
  std::vector<std::string> all(static_cast<std::size_t>(std::min(layers, most_layers)),
                               "full_attention");
  if (!c.flag({"use_hybrid_layers"}, true) || !c.flag({"use_sliding_window"}, true)) return all;
  const auto list = [&](std::string_view key, std::vector<std::string> absent) {
    const auto found = c.texts({key});
    return found.empty() ? absent : found;
  };
  all = list("first_layers_types", {"full_attention"});
  const auto pattern =
      list("hybrid_layers_types_block",
           {"full_attention", "sliding_attention", "sliding_attention", "sliding_attention"});
  const auto last =
      list("last_layers_types", {"full_attention", "full_attention", "full_attention"});
  const Size runs = c.count({"num_hybrid_layers_block"}, 21);
  for (Size i = 0; i < runs && i < most_layers; ++i)
    all.insert(all.end(), pattern.begin(), pattern.end());
  all.insert(all.end(), last.begin(), last.end());
  if (static_cast<Size>(all.size()) != layers)
    c.fail("num_hybrid_layers_block", "found a pattern of " + std::to_string(all.size()) +
                                          " layers, expected num_hidden_layers");
  return all;
}

/// Sources: SGLang 0.5.23 models/iquest_q1.py and configs/iquest_q1.py, with the names that its
/// loader takes. Only the first layer has a norm after its feed-forward.
Part iquest_q1(const Config& c) {
  const Classes k{"IQuestQ1"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Size layers = c.dim({"num_hidden_layers"});
  const Heads h = heads_of(c, Defaults{.kv_heads = 8, .head_dim = 128});
  const Size window = c.dim_or_none({"sliding_window"}, 4096);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const auto kinds = kinds_of(c, layers);
  const auto listed = c.dims({"mlp_only_layers"});
  const auto is_dense = [&](Size i) {
    return c.has("mlp_only_layers") ? std::find(listed.begin(), listed.end(), i) != listed.end()
                                    : i == 0;
  };
  const Routing r = routing_of(c, {"num_experts"});
  const Part mixture =
      in("mlp", k("MoEBlock"),
         router("router", k("Router"), hidden, r.experts) +
             in("experts", k("Experts"),
                routed(tensor("fc", {r.experts, 2 * inner, hidden}, Role::matmul) +
                           tensor("proj", {r.experts, hidden, inner}, Role::matmul),
                       r) +
                    module("act_fn", act)));
  const auto norm = [&](std::string_view name) { return rms_norm(name, k("RMSNorm"), hidden); };
  const bool sinks = c.flag({"enable_sink_attention"}, true);
  return decoder(c, k, c.dim({"rotary_dim"}, 32), [&](Size i) {
    Part attn = attention(hidden, h, Bias::no, Bias::no,
                          window_of(kinds[static_cast<std::size_t>(i)], window)) +
                head_norms(k("RMSNorm"), h.dim);
    if (sinks) attn = std::move(attn) + tensor("sink_k", {h.kv, h.dim}, Role::other);
    return norm("attention_norm") + norm("attn_out_norm") + norm("feed_forward_norm") +
           in("self_attn", k("Attention"), std::move(attn)) +
           (is_dense(i) ? in("mlp", k("DenseMLP"),
                             gated_mlp(hidden, c.dim({"dense_intermediate_size"}), act))
                        : mixture) +
           (i == 0 ? norm("ffn_out_norm") : Part{});
  });
}

}  // namespace headroom::model::families::iquest_q1
