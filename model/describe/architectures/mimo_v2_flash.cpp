// MiMo-V2-Flash (arXiv:2601.02780): values narrower than keys, layers behind a window with twice
// the key-value heads and with sinks. The module of MiMo-7B that predicts a further token.
#include "model/describe/architectures/mimo.hpp"
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::mimo_v2_flash {

/// Heads of the layers that look at all tokens, or of those behind a window.
struct KindOfLayer {
  Heads heads;
  Size value, window;
  bool sinks;
};

KindOfLayer kind_of(const Config& c, bool windowed) {
  const Heads all = heads_of(c, 4, 192);
  const Size value = c.dim({"v_head_dim"}, 128);
  if (!windowed) return {all, value, 0, c.flag({"add_full_attention_sink_bias"}, false)};
  const Size window = c.has("sliding_window_size") ? c.dim({"sliding_window_size"}) + 1
                                                   : c.dim({"sliding_window"}, 129);
  return {{.query = c.dim({"swa_num_attention_heads"}, all.query),
           .kv = c.dim({"swa_num_key_value_heads"}, 2 * all.kv),
           .dim = c.dim({"swa_head_dim"}, all.dim)},
          c.dim({"swa_v_head_dim"}, value),
          window,
          c.flag({"add_swa_attention_sink_bias"}, true)};
}

Part attention_of(const Config& c, Size hidden, bool windowed) {
  const auto [heads, value, window, sinks] = kind_of(c, windowed);
  const Bias bias = c.bias({"attention_bias"}, false);
  const Size query = heads.query * heads.dim, key = heads.kv * heads.dim, values = heads.kv * value;
  Part p = (sinks ? tensor("sinks", {heads.query}, Role::other) : Part{}) +
           (c.text({"attention_projection_layout"}, "split") == "fused_qkv"
                ? linear("qkv_proj", hidden, query + key + values, bias)
                : linear("q_proj", hidden, query, bias) + linear("k_proj", hidden, key, bias) +
                      linear("v_proj", hidden, values, bias)) +
           linear("o_proj", heads.query * value, hidden);
  p.caches = {{.per_token = heads.kv * (heads.dim + value),
               .values = heads.kv * value,
               .window = window,
               .score_dims = heads.query * (heads.dim + value),
               .kv_heads = heads.kv}};
  return p;
}

/// Entry `layer` of a list of 0 and 1; `otherwise` where the config has no such list.
bool listed(const Config& c, std::string_view key, Size layer, bool otherwise) {
  if (!c.has(key)) return otherwise;
  const auto all = c.dims({key});
  if (static_cast<std::size_t>(layer) >= all.size()) c.fail(key, "found fewer entries than layers");
  return all[static_cast<std::size_t>(layer)] == 1;
}

/// Sources: transformers 5.23, models/mimo_v2_flash; vLLM 0.33 mimo_v2.py for the keys of the
/// checkpoint's own code (hybrid_layer_pattern, moe_layer_freq, swa_*,
/// attention_projection_layout). `sliding_window_size` does not count the current token.
Part mimo_v2_flash(const Config& c) {
  const Classes k{"MiMoV2Flash"};
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Heads heads = heads_of(c, 4, 192);
  const Routing r = shared_routing_of(c);
  const Part mixture = in("mlp", k("MoE"),
                          fused_experts(k("Experts"), hidden, c.dim({"moe_intermediate_size"}), r,
                                        activation_class(c, {"hidden_act"}, "silu")) +
                              corrected_router("gate", k("TopkRouter"), hidden, r.experts));
  const auto windowed = [&](Size i) {
    return listed(c, "hybrid_layer_pattern", i,
                  window_of(c, i, 1, i == 0 || (i + 1) % 6 == 0 ? 0 : 1) == 1);
  };
  const Part layers = stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}), [&](Size i) {
    const bool sparse =
        c.has("mlp_layer_types") ? is_sparse(c, i, 1) : listed(c, "moe_layer_freq", i, i > 0);
    return decoder_layer(k, hidden, attention_of(c, hidden, windowed(i)),
                         sparse ? mixture : dense_mlp(c, k));
  });
  std::vector<std::string> kinds;
  for (const bool kind : {false, true})
    for (Size i = 0; i < c.dim({"num_hidden_layers"}); ++i)
      if (windowed(i) == kind) {
        kinds.push_back(kind ? "sliding_attention" : "full_attention");
        break;
      }
  return with_quirks(unsplittable(in("model", k("Model"),
                                     embedding("embed_tokens", vocab, hidden) + layers +
                                         rms_norm("norm", k("RMSNorm"), hidden) +
                                         rotary_by_kind(c, k("RotaryEmbedding"), kinds, heads.dim,
                                                        [](const std::string&) { return 0.334; })) +
                                      lm_head("model.embed_tokens.weight", vocab, hidden,
                                              c.flag({"tie_word_embeddings"}, false)),
                                  {k("DecoderLayer")}),
                     {.attention = {.rotation = Rotation::concatenated}});
}

/// Sources: vLLM 0.33 mimo_v2_mtp.py; SGLang 0.5.23 mimo_v2_nextn.py. The names are the
/// checkpoint's.
Part predictor(const Config& c, Size number) {
  const Classes k{"MiMoV2"};
  const Size hidden = c.dim({"hidden_size"});
  const std::string norm = k("RMSNorm");
  Part attends = attention_of(c, hidden, true);
  for (Tensor& t : attends.tensors)
    if (t.name == "sinks") t.name = "attention_sink_bias";
  return in("model.mtp.layers." + std::to_string(number), k("MTPLayer"),
            rms_norm("enorm", norm, hidden) + rms_norm("hnorm", norm, hidden) +
                linear("eh_proj", 2 * hidden, hidden) + rms_norm("input_layernorm", norm, hidden) +
                in("self_attn", k("Attention"), std::move(attends)) +
                rms_norm("pre_mlp_layernorm", norm, hidden) + dense_mlp(c, k) +
                rms_norm("final_layernorm", norm, hidden));
}

}  // namespace headroom::model::families::mimo_v2_flash

namespace headroom::model::families::mimo {

/// Source: vLLM 0.33 mimo_mtp.py; the checkpoint's names as its mapper reads them.
Part predictor(const Config& c, Size number) {
  const Classes k{"MiMo"};
  const Size hidden = c.dim({"hidden_size"});
  const std::string norm = k("RMSNorm");
  return in("model.mtp_layers." + std::to_string(number), k("MTPLayers"),
            rms_norm("token_layernorm", norm, hidden) + rms_norm("hidden_layernorm", norm, hidden) +
                linear("input_proj", 2 * hidden, hidden) +
                decoder_layer(k, hidden, attention(hidden, heads_of(c), Bias::yes),
                              gated_mlp(hidden, c.dim({"intermediate_size"}),
                                        activation_class(c, {"hidden_act"}, "silu"))) +
                rms_norm("final_layernorm", norm, hidden));
}

}  // namespace headroom::model::families::mimo
