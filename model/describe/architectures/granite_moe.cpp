// The Granite mixtures: granitemoe, variants with a shared expert, variants with windows and sinks,
// and variants with Mamba-2 (Granite 4).
#include <boost/json.hpp>
#include <set>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/recurrent.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::granite_moe {

Part mixture(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"});
  const Routing r = routing_of(c, {"num_local_experts"});
  return in("block_sparse_moe", k("MoE"),
            router("router", k("TopKRouter"), hidden, r.experts) +
                fused_experts(k("Experts"), hidden, c.dim({"intermediate_size"}), r,
                              activation_class(c, {"hidden_act"}, "silu")));
}
/// The feed-forward that every token uses. One tensor holds gate and up.
Part shared_mlp(const Config& c, Classes k, Size inner) {
  const Size hidden = c.dim({"hidden_size"});
  if (inner == 0) return {};
  return in("shared_mlp", k("MLP"),
            module("activation", activation_class(c, {"hidden_act"}, "silu")) +
                linear("input_linear", hidden, 2 * inner) + linear("output_linear", inner, hidden));
}
Part norms(const Config& c, Classes k) {
  const Size hidden = c.dim({"hidden_size"});
  return rms_norm("input_layernorm", k("RMSNorm"), hidden) +
         rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
}
Part attention_of(const Config& c, Size window = 0) {
  const Bias bias = c.bias({"attention_bias"}, false);
  return attention(c.dim({"hidden_size"}), heads_of(c), bias, bias, window);
}

/// The distinct non-zero values of `layer_rope_theta`. Without the key there is one value.
std::set<double> base_frequencies(const Config& c) {
  std::set<double> all;
  if (!c.has("layer_rope_theta")) return {0};
  const auto* list = c.object().at("layer_rope_theta").if_array();
  if (!list) c.fail("layer_rope_theta", "expected a list of numbers");
  for (const auto& value : *list) {
    if (value.is_null()) continue;
    if (!value.is_number()) c.fail("layer_rope_theta", "expected a list of numbers");
    if (const double theta = value.to_number<double>(); theta != 0) all.insert(theta);
  }
  return all;
}

/// Source: transformers 5.23, models/granitemoe.
Part granitemoe(const Config& c) {
  const Classes k{"GraniteMoe"};
  return with_quirks(decoder(c, k, rotated_if_scaled(c, heads_of(c).dim),
                             [&] {
                               return in("self_attn", k("Attention"), attention_of(c)) +
                                      norms(c, k) + mixture(c, k);
                             }),
                     {.router = {.kind = RouterKind::softmax_of_raised}});
}

/// Source: transformers 5.23, models/granitemoeshared.
Part granitemoeshared(const Config& c) {
  const Classes k{"GraniteMoeShared"};
  return with_quirks(decoder(c, k, rotated_if_scaled(c, heads_of(c).dim),
                             [&] {
                               return in("self_attn", k("Attention"), attention_of(c)) +
                                      norms(c, k) + mixture(c, k) +
                                      shared_mlp(c, k, c.count({"shared_intermediate_size"}, 0));
                             }),
                     {.router = {.kind = RouterKind::softmax_of_raised}});
}

/// Source: transformers 5.23, models/granitemoe_swa. Each base frequency in `layer_rope_theta` has
/// a rotary table, in addition to the model's own.
Part granitemoe_swa(const Config& c) {
  const Classes k{"GraniteMoeSWA"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Heads heads = heads_of(c);
  const Size window = c.dim({"sliding_window"}, 128), rotated = rotated_if_scaled(c, heads.dim);
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    return in("self_attn", k("Attention"),
              tensor("sinks", {heads.query}, Role::other) +
                  attention_of(c, window_of(c, i, window, i % 4 == 0 ? 0 : window))) +
           norms(c, k) + mixture(c, k) + shared_mlp(c, k, c.count({"shared_intermediate_size"}, 0));
  });
  Part tables;
  const std::set<double> thetas = base_frequencies(c);
  for (std::size_t i = 0; i < thetas.size(); ++i)
    tables = std::move(tables) +
             in(std::to_string(i), k("RotaryEmbedding"),
                buffer("inv_freq", {rotated / 2}) + buffer("original_inv_freq", {rotated / 2}));
  return with_quirks(unsplittable(in("model", k("Model"),
                                     embedding("embed_tokens", vocab, hidden) + layers +
                                         rms_norm("norm", k("RMSNorm"), hidden) +
                                         rotary(k("RotaryEmbedding"), rotated) +
                                         in("rotary_embs", "ModuleList", std::move(tables))) +
                                      lm_head("model.embed_tokens.weight", vocab, hidden,
                                              c.flag({"tie_word_embeddings"}, false)),
                                  {k("DecoderLayer")}),
                     {.router = {.kind = RouterKind::softmax_of_raised}});
}

/// Source: transformers 5.23, models/granitemoehybrid. Without experts the shared feed-forward is
/// the only one. The model has rotary tables only if position_embedding_type is "rope".
Part granitemoehybrid(const Config& c) {
  const Classes k{"GraniteMoeHybrid"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Mamba2 m = mamba2_of(c, expanded(c, hidden, "mamba_expand"));
  const Part mamba =
      in("mamba", k("MambaLayer"),
         mamba2_mixer(hidden, m, k("RMSNormGated"), activation_class(c, {"hidden_act"}, "silu")));
  const Part attn = in("self_attn", k("Attention"), attention_of(c));
  const bool sparse = c.count({"num_local_experts"}, 8) > 0;
  const auto types = c.texts({"layer_types", "layers_block_type"});
  const auto recurrent = [&](Size i) {
    if (types.empty()) return true;
    const std::string& type = layer_type(c, types, i);
    return type == "mamba" || type == "linear_attention";
  };
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    return norms(c, k) + (sparse ? mixture(c, k) : Part{}) +
           shared_mlp(c, k, c.dim({"shared_intermediate_size"}, 1024)) +
           (recurrent(i) ? mamba : attn);
  });
  return with_quirks(
      unsplittable(
          in("model", k("Model"),
             embedding("embed_tokens", vocab, hidden) + layers +
                 rms_norm("norm", k("RMSNorm"), hidden) +
                 (word_of(c, {"position_embedding_type"}, "", {"", "rope", "nope"}) == "rope"
                      ? rotary(k("RotaryEmbedding"), rotated_if_scaled(c, heads_of(c).dim))
                      : Part{})) +
              lm_head("model.embed_tokens.weight", vocab, hidden,
                      c.flag({"tie_word_embeddings"}, false)),
          {k("DecoderLayer")}),
      {.router = {.kind = RouterKind::softmax_of_raised}});
}

}  // namespace headroom::model::families::granite_moe
