// openPangu: Embedded (dense), Pro MoE V2 and Ultra MoE (arXiv:2505.04519). Attention is grouped,
// latent, or grouped with learned keys that every token sees.
#include <boost/json.hpp>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"

namespace headroom::model::families::pangu {

const Classes k{"OpenPangu"};

/// The config with the names that vLLM's class has. Older files of Ultra MoE spell them otherwise
/// (configuration_openpangu_moe.py of the checkpoint).
Config with_usual_names(const Config& c) {
  return c.renamed(boost::json::object{{"num_routed_experts", "n_routed_experts"},
                                       {"num_shared_experts", "n_shared_experts"},
                                       {"num_dense_layers", "first_k_dense_replace"},
                                       {"attention_q_lora_dim", "q_lora_rank"},
                                       {"attention_kv_lora_dim", "kv_lora_rank"},
                                       {"attention_qk_dim", "qk_nope_head_dim"},
                                       {"attention_qk_rope_dim", "qk_rope_head_dim"},
                                       {"attention_v_dim", "v_head_dim"}});
}

/// Sliding window of layer `i`; 0: none. A list of windows repeats.
Size window_of_layer(const Config& c, Size i) {
  if (!c.has("interleaved_sliding_window")) return 0;
  if (c.is_whole("interleaved_sliding_window")) return c.count({"interleaved_sliding_window"});
  const auto windows = c.dims({"interleaved_sliding_window"});
  if (windows.empty()) return 0;
  return windows[static_cast<std::size_t>(i) % windows.size()];
}

/// Grouped attention with `param_sink_number` learned keys, which the cache holds once for all
/// sequences. They are not counted there.
Part sink_attention(const Config& c, Size i, Bias qkv, Bias out) {
  const Size hidden = c.dim({"hidden_size"}), sinks = c.dim({"param_sink_number"});
  const Size dim = c.dim({"qk_nope_dim"}) + c.dim({"qk_rope_dim"}), value = c.dim({"v_channels"});
  const Heads h{c.dim({"num_attention_heads"}),
                c.dim({"num_key_value_heads"}, c.dim({"num_attention_heads"})), dim};
  Part p = tensor("param_sink_key", {sinks, h.kv, dim}, Role::other);
  if (c.flag({"param_sink_with_value"}, false))
    p = std::move(p) + tensor("param_sink_value", {sinks, h.kv, value}, Role::other);
  p = std::move(p) + linear("q_proj", hidden, h.query * dim, qkv) +
      linear("k_proj", hidden, h.kv * dim, qkv) + linear("v_proj", hidden, h.kv * value, qkv) +
      linear("o_proj", h.query * value, hidden, out) + rms_norm("k_layernorm", k("RMSNorm"), dim);
  p.caches = {{.per_token = h.kv * (dim + value),
               .values = h.kv * value,
               .window = window_of_layer(c, i),
               .score_dims = h.query * (dim + value),
               .kv_heads = h.kv}};
  return p;
}

Part attention_of(const Config& c, Size i) {
  const Size hidden = c.dim({"hidden_size"});
  if (c.has("kv_lora_rank")) return latent_attention(hidden, latent_of(c), k("RMSNorm"));
  const bool both = c.flag({"attention_bias"}, false) || c.flag({"bias"}, false);
  const Bias out = both ? Bias::yes : Bias::no, qkv = c.bias({"qkv_bias"}, both);
  if (c.count({"param_sink_number"}, 0) > 0) return sink_attention(c, i, qkv, out);
  return attention(hidden, heads_of(c, Defaults{}), qkv, out, window_of_layer(c, i));
}

/// Experts with shared ones. Only some routers have a score correction.
Part mixture_of(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Size shared = c.count({"n_shared_experts"}, 0);
  const Routing r = shared_routing_of(c);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  return in("mlp", k("MoE"),
            router("gate", "Linear", hidden, r.experts) +
                (c.flag({"router_enable_expert_bias"}, false) ? in_fp32(score_correction(r.experts))
                                                              : Part{}) +
                fused_experts(k("Experts"), hidden, inner, r, act) +
                (shared > 0 ? in("shared_experts", k("MLP"), gated_mlp(hidden, shared * inner, act))
                            : Part{}));
}

/// Source: vLLM 0.33 openpangu.py (PanguEmbeddedForCausalLM, PanguProMoEV2ForCausalLM,
/// PanguUltraMoEForCausalLM).
Part pangu(const Config& given) {
  const Config c = with_usual_names(given);
  const Size hidden = c.dim({"hidden_size"}), layers = c.dim({"num_hidden_layers"});
  const bool mixes = c.has("n_routed_experts");
  const Size dense = mixes ? c.count({"first_k_dense_replace"}) : layers;
  const Part plain = dense < 1 ? Part{} : dense_mlp(c, k, c.bias({"mlp_bias"}, false));
  const Part experts = mixes ? mixture_of(c) : Part{};
  const bool four = c.flag({"sandwich_norm"}, false);
  const Size rotated = c.has("kv_lora_rank")                   ? c.dim({"qk_rope_head_dim"})
                       : c.count({"param_sink_number"}, 0) > 0 ? c.dim({"qk_rope_dim"})
                                                               : heads_of(c, Defaults{}).dim;
  return with_quirks(
      decoder(c, k, rotated,
              [&](Size i) {
                Part layer =
                    decoder_layer(k, hidden, attention_of(c, i), i < dense ? plain : experts);
                return four ? std::move(layer) +
                                  rms_norm("pre_mlp_layernorm", k("RMSNorm"), hidden) +
                                  rms_norm("post_mlp_layernorm", k("RMSNorm"), hidden)
                            : layer;
              }),
      {.router = {.kind = RouterKind::sigmoid}});
}

}  // namespace headroom::model::families::pangu
