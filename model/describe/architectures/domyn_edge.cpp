// Domyn Edge: layers with own widths of heads and own windows, and a norm before and after each
// half.
#include <boost/json.hpp>

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::domyn_edge {

/// Layer `i` of window_sizes, a list of pairs: a query sees that many earlier tokens and itself.
Size window_of_layer(const Config& c, Size i) {
  constexpr std::string_view key = "window_sizes";
  if (!c.has(key)) c.fail(key, "is missing, expected one pair for each layer");
  const auto& all = c.object().at(key);
  const auto at = static_cast<std::size_t>(i);
  if (!all.is_array() || all.get_array().size() <= at)
    c.fail(key, "expected a list with one pair for each layer");
  const auto& pair = all.get_array()[at];
  const auto* first = pair.is_array() && !pair.get_array().empty() ? &pair.get_array()[0] : nullptr;
  if (first == nullptr || !first->is_int64() || first->get_int64() >= Size{1} << 30)
    c.fail(key, "layer " + std::to_string(i) + ": expected a pair of whole numbers below 2^30");
  return first->get_int64() > 0 ? first->get_int64() + 1 : 0;
}

/// Source: vLLM 0.33 domyn_edge.py. Queries are normed without a weight.
Part domyn_edge(const Config& c) {
  const Classes k{"DomynEdge"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Size query = c.dim({"num_attention_heads"}), kv = c.dim({"num_key_value_heads"}, query);
  const auto norm = [&](std::string_view name) { return rms_norm(name, k("RMSNorm"), hidden); };
  return with_quirks(
      decoder(c, k, rotated_if_scaled(c, c.dim({"head_dim"}, hidden / query)),
              [&](Size i) {
                const Heads h{
                    query, kv,
                    layer_section(c, i).dim({"head_dim"}, c.dim({"head_dim"}, hidden / query))};
                return in("attention", k("Attention"),
                          attention(hidden, h, Bias::no, Bias::no, window_of_layer(c, i)) +
                              rms_norm("k_norm", k("RMSNorm"), h.dim)) +
                       in("feedforward", k("MLP"), gated_mlp(hidden, inner, act)) +
                       norm("pre_attention_norm") + norm("post_attention_norm") +
                       norm("pre_feedforward_norm") + norm("post_feedforward_norm");
              }),
      {.attention = {.rotated_in_fp32 = true}});
}

}  // namespace headroom::model::families::domyn_edge
