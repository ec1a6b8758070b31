// Laguna and Mellum: mixtures of experts with separate rotary tables for each kind of layer.
#include <boost/json.hpp>
#include <set>

#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::laguna {

template <class Layer, class Factor>
Part decoder_of_kinds(const Config& c, Classes k, Size head_dim, Layer&& layer, Factor factor) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const auto types = c.texts({"layer_types"});
  std::set<std::string> kinds(types.begin(), types.end());
  if (kinds.empty()) kinds = {"full_attention"};
  return unsplittable(
      in("model", k("Model"),
         embedding("embed_tokens", vocab, hidden) +
             stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), layer) +
             rms_norm("norm", k("RMSNorm"), hidden) +
             rotary_by_kind(c, k("RotaryEmbedding"), {kinds.begin(), kinds.end()}, head_dim,
                            factor)) +
          lm_head("model.embed_tokens.weight", vocab, hidden,
                  c.flag({"tie_word_embeddings"}, false)),
      {k("DecoderLayer")});
}

/// Source: transformers 5.23, models/laguna. `gating` is per head (true) or per element.
Part laguna(const Config& c) {
  const Classes k{"Laguna"};
  const Size hidden = c.dim({"hidden_size"}), window = c.dim({"sliding_window"}, 512);
  const Heads heads = heads_of(c, 8, 128);
  const Bias bias = c.bias({"attention_bias"}, false);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const Routing r = routing_of(c, {"num_experts"});
  const auto own_heads = c.dims({"num_attention_heads_per_layer"});
  const auto* gating = c.object().if_contains("gating");
  const bool per_head =
      !gating || (gating->is_bool() ? gating->get_bool() : c.text({"gating"}) == "per-head");
  const Part mixture =
      in("mlp", k("SparseMoeBlock"),
         fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r, act) +
             in("gate", k("TopKRouter"),
                tensor("weight", {r.experts, hidden}, Role::matmul) +
                    score_correction_parameter({r.experts})) +
             in("shared_experts", k("MLP"),
                gated_mlp(hidden, c.count({"shared_expert_intermediate_size"}), act)));
  const auto layer = [&](Size i) {
    Heads own = heads;
    if (!own_heads.empty()) {
      if (static_cast<std::size_t>(i) >= own_heads.size())
        c.fail("num_attention_heads_per_layer", "found fewer entries than layers");
      own.query = own_heads[static_cast<std::size_t>(i)];
    }
    const bool sparse = c.has("mlp_layer_types") ? is_sparse(c, i, 1) : i > 0;
    return decoder_layer(k, hidden,
                         attention(hidden, own, bias, bias, window_of(c, i, window, 0)) +
                             head_norms(k("RMSNorm"), own.dim) +
                             linear("g_proj", hidden, per_head ? own.query : own.query * own.dim),
                         sparse ? mixture : dense_mlp(c, k));
  };
  return with_quirks(decoder_of_kinds(c, k, heads.dim, layer,
                                      [](const std::string& kind) {
                                        return kind == "full_attention" ? 0.5 : 1.0;
                                      }),
                     {.attention = {.rotation = Rotation::concatenated, .softplus_gate = true}});
}

/// Source: transformers 5.23, models/mellum.
Part mellum(const Config& c) {
  const Classes k{"Mellum"};
  const Size hidden = c.dim({"hidden_size"}), window = c.count({"sliding_window"}, 1024);
  const Heads heads = heads_of(c, 4, 128);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Routing r = routing_of(c, {"num_experts", "num_local_experts"});
  const Part mixture = in("mlp", k("SparseMoeBlock"),
                          fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r,
                                        activation_class(c, {"hidden_act"}, "silu")) +
                              router("gate", k("TopKRouter"), hidden, r.experts));
  const auto layer = [&](Size i) {
    return decoder_layer(
        k, hidden,
        attention(hidden, heads, bias, bias, window_of(c, i, window, 0)) +
            head_norms(k("RMSNorm"), heads.dim),
        !c.has("mlp_layer_types") || is_sparse(c, i, 0) ? mixture : dense_mlp(c, k));
  };
  return decoder_of_kinds(c, k, heads.dim, layer, [](const std::string&) { return 1.0; });
}

}  // namespace headroom::model::families::laguna
