// The GLM mixtures: GLM-4.5 (arXiv:2508.06471), GLM-4.7-Flash and GLM-5.
#include <boost/json.hpp>
#include <utility>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"
#include "model/describe/blocks/qwen.hpp"

namespace headroom::model::families::glm_moe {

/// The first `dense` layers have gated feed-forwards, the others have mixtures.
Part feed_forward(const Config& c, Classes k, Size layer, Size dense) {
  const Size hidden = c.dim({"hidden_size"});
  if (is_sparse(c, layer, dense))
    return shared_mixture(
        c, k, k("MoE"),
        corrected_router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts));
  return in(
      "mlp", k("MLP"),
      gated_mlp(hidden, c.dim({"intermediate_size"}), activation_class(c, {"hidden_act"}, "silu")));
}

/// Source: transformers 5.23, models/glm4_moe.
Part glm4_moe(const Config& c) {
  const Classes k{"Glm4Moe"};
  const Size hidden = c.dim({"hidden_size"});
  const Size query = c.dim({"num_attention_heads"});
  const Heads heads = heads_of(c, 8, hidden / query);
  const Part attn = attention(hidden, heads, c.bias({"attention_bias"}, false)) +
                    (c.flag({"use_qk_norm"}, false) ? head_norms(k("RMSNorm"), heads.dim) : Part{});
  const auto sparse = [&](Size i) { return is_sparse(c, i, 1); };
  const auto layer = [&](Size i) {
    return decoder_layer(k, hidden, attn, feed_forward(c, k, i, 1));
  };
  return with_quirks(
      decoder(c, k, rotated_dims(c, heads.dim, 0.5), by_kind(sparse, layer)),
      {.attention = {.rotation = Rotation::concatenated}, .router = {.kind = RouterKind::sigmoid}});
}

/// Sarvam 30B as transformers 5.24 builds it (models/sarvam_moe): GLM-4.5 with whole heads rotated.
Part sarvam_moe(const Config& c) {
  return glm4_moe(c.with_defaults({{"partial_rotary_factor", 1.0}}));
}

/// Source: transformers 5.23, models/glm4_moe_lite.
Part glm4_moe_lite(const Config& c) {
  const Classes k{"Glm4MoeLite"};
  const Size hidden = c.dim({"hidden_size"});
  const Latent a = latent_of(c);
  const Part attn = latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false));
  return with_quirks(
      decoder(c, k, rotated_dims(c, a.rope),
              [&](Size i) { return decoder_layer(k, hidden, attn, feed_forward(c, k, i, 1)); }),
      {.router = {.kind = RouterKind::sigmoid}});
}

/// Source: transformers 5.23, models/glm_moe_dsa. Layers that reuse the token selection of an
/// earlier layer have no indexer.
Part glm_moe_dsa(const Config& given) {
  const Config c = with_routed_experts(given);
  const Classes k{"GlmMoeDsa"};
  const Size hidden = c.dim({"hidden_size"});
  const Latent a = latent_of(c);
  const Part attn =
      picked(latent_attention(hidden, a, k("RMSNorm"), c.bias({"attention_bias"}, false)), c);
  const auto kind = [&](Size i) { return std::pair(has_indexer(c, i), is_sparse(c, i, 3)); };
  return with_quirks(decoder(c, k, rotated_if_scaled(c, a.rope),
                             by_kind(kind,
                                     [&](Size i) {
                                       return decoder_layer(
                                           k, hidden,
                                           has_indexer(c, i) ? attn + indexer(c, k("Indexer"),
                                                                              hidden, a.query_rank)
                                                             : attn,
                                           feed_forward(c, k, i, 3));
                                     })),
                     {.attention = {.always_masked = true, .chooses_keys = true},
                      .router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::glm_moe
