// GigaChat 3.5: gated delta nets between layers of latent attention, DeepSeek's mixture, and norms
// with a gate of low rank.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"
#include "model/describe/blocks/qwen.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::gigachat35 {

/// A norm of the configured type. Gated ones have two matrices of rank 16.
Part gated_norm(const Config& c, std::string_view name, Size dim) {
  constexpr Size rank = 16;
  const std::string type =
      word_of(c, {"norm_type"}, "LlamaRMSNorm",
              {"LlamaRMSNorm", "ZeroCenteredRMSNorm", "ZeroCenteredGatedNorm", "GatedNorm"});
  Part p = rms_norm(name, "GigaChat35RMSNorm", dim);
  if (!type.ends_with("GatedNorm")) return p;
  return std::move(p) +
         at(name, linear("gate_up_lowrank", dim, rank) + linear("gate_down_lowrank", rank, dim));
}

/// `part` with its norm `name` of the configured type.
Part with_gated_norm(const Config& c, Part part, std::string_view name, Size dim) {
  const std::string scope(name);
  std::erase_if(part.modules, [&](const Module& m) { return m.path == scope; });
  std::erase_if(part.tensors, [&](const Tensor& t) { return t.module() == scope; });
  return std::move(part) + gated_norm(c, name, dim);
}

Part full_attention(const Config& c) {
  const Size hidden = c.dim({"hidden_size"});
  Latent a = latent_of(c);
  a.query_rank = c.dim_or_none({"q_lora_rank"}, 1536);
  Part p = with_gated_norm(
      c, latent_attention(hidden, a, "GigaChat35RMSNorm", c.bias({"attention_bias"}, false)),
      "kv_a_layernorm", a.rank);
  if (a.query_rank > 0) p = with_gated_norm(c, std::move(p), "q_a_layernorm", a.query_rank);
  if (c.flag({"gated_attention"}, true))
    p = std::move(p) + linear("attn_gate", hidden, a.heads * a.value);
  return in("self_attn", "GigaChat35Attention", std::move(p));
}

Part linear_attention(const Config& c) {
  const Size hidden = c.dim({"hidden_size"});
  const DeltaNet d = delta_net_of(c);
  return in("self_attn", "GigaChat35GatedDeltaNet",
            gated_delta_net(hidden, d, "GigaChat35RMSNormGated",
                            linear("in_proj_qkvz", hidden, 2 * (d.key() + d.value())) +
                                linear("in_proj_ba", hidden, 2 * d.value_heads),
                            Inputs::first));
}

/// layer_types decides, else full_attention_layers, which counts from 0.
bool attends(const Config& c, Size i) {
  const auto types = c.texts({"layer_types"});
  if (!types.empty()) return layer_type(c, types, i) != "linear_attention";
  const auto full = c.dims({"full_attention_layers"});
  return std::find(full.begin(), full.end(), i) != full.end();
}

/// Sources: SGLang 0.5.23 models/gigachat35.py and configs/gigachat35.py.
Part gigachat35(const Config& c) {
  const Classes k{"GigaChat35"};
  const Size hidden = c.dim({"hidden_size"}), every = c.dim({"moe_layer_freq"}, 1);
  const Part full = full_attention(c), linears = linear_attention(c);
  const Part mixture = shared_mixture(
      c, k, k("MoE"), corrected_router("gate", k("Router"), hidden, shared_routing_of(c).experts));
  const bool after = word_of(c, {"layernorm_type"}, "pre", {"pre", "post", "pre_post"}) != "pre";
  Part norms =
      gated_norm(c, "input_layernorm", hidden) + gated_norm(c, "post_attention_layernorm", hidden);
  if (after)
    norms = std::move(norms) + gated_norm(c, "post_self_attn_layernorm", hidden) +
            gated_norm(c, "post_feedforward_layernorm", hidden);
  const Trunk frame{"GigaChat35", gated_norm(c, "norm", hidden),
                    rotary(k("RotaryEmbedding"), c.dim({"qk_rope_head_dim"}))};
  return with_quirks(causal_lm(c, k("Model"),
                               trunk(c, frame,
                                     [&](Size i) {
                                       const bool sparse = is_sparse(c, i, 1) && i % every == 0;
                                       return (attends(c, i) ? full : linears) +
                                              (sparse ? mixture : dense_mlp(c, k)) + norms;
                                     })),
                     {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::gigachat35
