// Hunyuan mixtures: Hunyuan-A13B (arXiv:2411.02265) and Hunyuan V3.
#include <boost/json.hpp>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::hunyuan_moe {

/// Reads a whole number, or the first entry of a list of one number for each layer. All entries of
/// the list must be equal.
Size same_in_all_layers(const Config& c, std::string_view key) {
  const auto* value = c.object().if_contains({key.data(), key.size()});
  if (!value || !value->is_array()) return c.dim({key});
  const auto list = c.dims({key});
  for (const Size one : list)
    if (one != list.front())
      c.fail(key, "found different numbers, expected the same in every layer");
  if (list.empty()) c.fail(key, "found an empty list");
  return list.front();
}

/// Source: transformers 5.23, models/hunyuan_v1_moe. Every layer is a mixture with one shared
/// feed-forward of the same width.
Part hunyuan_v1_moe(const Config& c) {
  const Classes k{"HunYuanMoEV1"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"intermediate_size"});
  const Heads heads = heads_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r{same_in_all_layers(c, "num_experts"), same_in_all_layers(c, "moe_topk")};
  if (r.used > r.experts) c.fail("moe_topk", "found more than num_experts");
  const Part mlp = in("mlp", k("Moe"),
                      in("gate", k("Gate"), linear("wg", hidden, r.experts)) +
                          fused_experts(k("Experts"), hidden, inner, r, act) +
                          in("shared_mlp", k("MLP"), gated_mlp(hidden, inner, act)));
  return with_quirks(decoder(c, k, rotated_if_scaled(c, heads.dim),
                             [&] {
                               return decoder_layer(
                                   k, hidden,
                                   attention(hidden, heads, bias, bias) +
                                       rms_norm("query_layernorm", k("RMSNorm"), heads.dim) +
                                       rms_norm("key_layernorm", k("RMSNorm"), heads.dim),
                                   mlp);
                             }),
                     {.attention = {.rotation = Rotation::added, .norms_rotated = true}});
}

/// Source: transformers 5.23, models/hy_v3.
Part hy_v3(const Config& c) {
  const Classes k{"HYV3"};
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Heads heads = heads_of(c, 8, 128);
  const Bias bias = c.bias({"attention_bias"}, false), mlp_bias = c.bias({"mlp_bias"}, false);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r = shared_routing_of(c);
  const Part mixture =
      in("mlp", k("MoE"),
         router("gate", k("TopKRouter"), hidden, r.experts) +
             fused_experts(k("Experts"), hidden, inner, r, act) +
             in("shared_experts", k("MLP"),
                gated_mlp(hidden, inner * c.dim({"num_shared_experts"}, 1), act, mlp_bias)) +
             score_correction(r.experts));
  return with_quirks(decoder(c, k, rotated_if_scaled(c, heads.dim),
                             [&](Size i) {
                               const bool sparse =
                                   c.has("mlp_layer_types") ? is_sparse(c, i, 1) : i > 0;
                               return decoder_layer(k, hidden,
                                                    attention(hidden, heads, bias, bias) +
                                                        head_norms(k("RMSNorm"), heads.dim),
                                                    sparse ? mixture : dense_mlp(c, k, mlp_bias));
                             }),
                     {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::hunyuan_moe
