// Hunyuan V4: latent attention with sinks and gates, and an indexer in every fourth layer.
// Hyper-connections (arXiv:2409.19606) mix the residual streams.
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::hy_v4 {

/// Source: transformers 5.23, models/hy_v4.
Part hy_v4(const Config& c) {
  const Classes k{"HYV4"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size streams = c.dim({"hc_mult"}, 4);
  const Latent a = latent_of(c);
  const Part attn =
      picked(latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false)), c);
  const Size inner = c.dim({"moe_intermediate_size"});
  const Routing r = routing_of(c, {"n_routed_experts"});
  const Part experts =
      in("experts", k("Experts"),
         routed(tensor("gate_up_proj", {r.experts, 2 * inner, hidden}, Role::matmul) +
                    tensor("down_proj", {r.experts, hidden, inner}, Role::matmul),
                r));
  const Part mixture = in("mlp", k("MoE"),
                          experts + corrected_router("gate", k("TopkRouter"), hidden, r.experts) +
                              in("shared_experts", k("MLP"),
                                 gated_mlp(hidden, inner * c.dim({"n_shared_experts"}, 1),
                                           activation_class(c, {"hidden_act"}, "silu"))));
  const auto connection = [&](std::string_view name) {
    return in(name, k("HyperConnection"),
              tensor("fn", {2 * streams, streams * hidden}, Role::matmul) +
                  tensor("base", {2 * streams}, Role::other) + tensor("scale", {2}, Role::other) +
                  module("input_norm", k("UnweightedRMSNorm")));
  };
  const auto indexers = c.texts({"indexer_types"});
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    const bool own = indexers.empty() ? i == 0 || (i - 1) % 4 == 0
                                      : layer_type(c, indexers, i, "indexer_types") == "full";
    const bool sparse = c.has("mlp_layer_types") ? is_sparse(c, i, 1) : i > 0;
    return decoder_layer(k, hidden,
                         tensor("sinks", {a.heads}, Role::other) + attn +
                             (own ? indexer(c, k("Indexer"), hidden, a.query_rank) : Part{}) +
                             linear("gate_proj", hidden, a.heads * a.value),
                         sparse ? mixture : dense_mlp(c, k)) +
           connection("attn_hc") + connection("ffn_hc");
  });
  const Part head =
      in("hc_head", k("HyperHead"),
         tensor("hc_fn", {streams, streams * hidden}, Role::matmul) +
             tensor("hc_base", {streams}, Role::other) + tensor("hc_scale", {1}, Role::other) +
             module("input_norm", k("UnweightedRMSNorm")));
  return with_quirks(unsplittable(in("model", k("Model"),
                                     embedding("embed_tokens", vocab, hidden) + layers +
                                         rms_norm("norm", k("RMSNorm"), hidden) +
                                         rotary(k("RotaryEmbedding"), a.rope) + head) +
                                      lm_head("model.embed_tokens.weight", vocab, hidden,
                                              c.flag({"tie_word_embeddings"}, false)),
                                  {k("DecoderLayer")}),
                     {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::hy_v4
