// DeepSeek-V2, V3 and V3.2 (arXiv:2405.04434, arXiv:2412.19437, arXiv:2512.02556): multi-head
// latent attention (MLA) and a mixture with shared experts. DeepSeekMoE (arXiv:2401.06066) has the
// mixture behind standard attention. Kimi K2 (arXiv:2507.20534) follows
// them. Checkpoints also contain multi-token-prediction layers. The class omits them, so they are
// not counted.
#include <boost/json.hpp>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::deepseek {

Part dense(const Config& c, Classes k, Bias bias) {
  return in("mlp", k("MLP"),
            gated_mlp(c.dim({"hidden_size"}), c.dim({"intermediate_size"}),
                      activation_class(c, {"hidden_act"}, "silu"), bias));
}

/// Source: vLLM 0.33 deepseek_v2.py, DeepseekForCausalLM; modeling_deepseek.py of
/// deepseek-ai/deepseek-moe-16b-base. Without n_routed_experts all layers are dense.
Part deepseek(const Config& c) {
  const Classes k{"Deepseek"};
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c, Defaults{});
  const Bias bias = c.bias({"attention_bias"}, false);
  const bool mixes = c.has("n_routed_experts");
  const Size every = c.dim({"moe_layer_freq"}, 1);
  const Part mixture =
      mixes ? shared_mixture(c, k, k("MoE"),
                             router("gate", k("MoEGate"), hidden, c.dim({"n_routed_experts"})))
            : Part{};
  return decoder(c, k, rotated_if_scaled(c, h.dim), [&](Size i) {
    const bool sparse = mixes && is_sparse(c, i, 0) && i % every == 0;
    return decoder_layer(k, hidden, attention(hidden, h, bias, bias),
                         sparse ? mixture : dense(c, k, Bias::no));
  });
}

/// True if the config gives heads no rotated and no other dimensions. Such a model has ordinary
/// attention instead of latent attention. Source: vLLM 0.33, deepseek_v2.py, use_mha.
bool has_plain_heads(const Config& c) {
  return c.count({"qk_nope_head_dim"}, 0) == 0 && c.count({"qk_rope_head_dim"}, 0) == 0;
}

/// Source: transformers 5.23, models/deepseek_v2. Text models of DeepSeek-VL2 and DeepSeek-OCR have
/// this class without latent attention.
Part deepseek_v2(const Config& c) {
  const Classes k{"DeepseekV2"};
  const Size hidden = c.dim({"hidden_size"});
  const bool plain = has_plain_heads(c);
  const Bias bias = c.bias({"attention_bias"}, false), mlp_bias = c.bias({"mlp_bias"}, false);
  const Heads heads = plain ? heads_of(c) : Heads{};
  const Part attends = plain ? attention(hidden, heads, bias, bias)
                             : latent_attention(hidden, latent_of(c), k("RMSNorm"), bias);
  const Size rotated = plain ? heads.dim : c.dim({"qk_rope_head_dim"});
  const Part gate = router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts);
  return decoder(c, k, rotated_if_scaled(c, rotated), [&](Size i) {
    return decoder_layer(k, hidden, attends,
                         is_sparse(c, i, 0) ? shared_mixture(c, k, k("Moe"), gate, mlp_bias)
                                            : dense(c, k, mlp_bias));
  });
}

/// Source: transformers 5.23, models/deepseek_v3.
Part deepseek_v3(const Config& c) {
  const Classes k{"DeepseekV3"};
  const Size hidden = c.dim({"hidden_size"});
  Latent a = latent_of(c);
  a.query_rank = c.dim_or_none({"q_lora_rank"}, 1536);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Part gate = corrected_router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts);
  const auto sparse = [&](Size i) { return is_sparse(c, i, 3); };
  return with_quirks(decoder(c, k, rotated_if_scaled(c, a.rope),
                             by_kind(sparse,
                                     [&](Size i) {
                                       return decoder_layer(
                                           k, hidden,
                                           latent_attention(hidden, a, k("RMSNorm"), bias),
                                           sparse(i) ? shared_mixture(c, k, k("MoE"), gate)
                                                     : dense(c, k, Bias::no));
                                     })),
                     {.router = {.kind = RouterKind::sigmoid}});
}

/// DeepSeek-V3 whose queries have no rank unless the config states one.
/// Source: transformers 5.24, models/sarvam_mla/configuration_sarvam_mla.py.
Part sarvam_mla(const Config& c) {
  return deepseek_v3(c.with_defaults({{"q_lora_rank", nullptr}}));
}

/// Source: transformers 5.23, models/deepseek_v32.
Part deepseek_v32(const Config& given) {
  const Config c = with_routed_experts(given);
  const Classes k{"DeepseekV32"};
  const Size hidden = c.dim({"hidden_size"});
  const Latent a = latent_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Part gate = corrected_router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts);
  const auto sparse = [&](Size i) { return is_sparse(c, i, 3); };
  return with_quirks(
      decoder(c, k, rotated_if_scaled(c, a.rope),
              by_kind(sparse,
                      [&](Size i) {
                        return decoder_layer(
                            k, hidden,
                            picked(latent_attention(hidden, a, k("RMSNorm"), bias), c) +
                                indexer(c, k("Indexer"), hidden, a.query_rank),
                            sparse(i) ? shared_mixture(c, k, k("MoE"), gate)
                                      : dense(c, k, Bias::no));
                      })),
      {.attention = {.always_masked = true, .chooses_keys = true},
       .router = {.kind = RouterKind::sigmoid}});
}

/// Source: transformers 5.23, models/axk1: DeepSeek-V3 with a norm after the mixture.
Part axk1(const Config& c) {
  const Classes k{"AXK1"};
  const Size hidden = c.dim({"hidden_size"});
  const Latent a = latent_of(c);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Part gate = corrected_router("gate", k("TopkRouter"), hidden, shared_routing_of(c).experts);
  const Part mixture = shared_mixture(c, k, k("MoE"), gate) +
                       at("mlp", rms_norm("post_mlp_layernorm", k("RMSNorm"), hidden));
  const Size every = c.dim({"moe_layer_freq"}, 1);
  return with_quirks(decoder(c, k, rotated_if_scaled(c, a.rope),
                             [&](Size i) {
                               const bool sparse = is_sparse(c, i, 1) &&
                                                   (c.has("mlp_layer_types") || i % every == 0);
                               return decoder_layer(k, hidden,
                                                    latent_attention(hidden, a, k("RMSNorm"), bias),
                                                    sparse ? mixture : dense(c, k, Bias::no));
                             }),
                     {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::deepseek
