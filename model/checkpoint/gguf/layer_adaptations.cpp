// Config keys of architectures whose layers differ in heads, experts or widths.
#include <algorithm>
#include <boost/json.hpp>

#include "model/checkpoint/gguf/adaptations.hpp"

namespace headroom::model::gguf {

namespace json = boost::json;

/// Every layer has experts beside a dense feed-forward.
void arctic(GgufKeys& k) {
  k.set("moe_layer_frequency", 1);
  k.set("parallel_attn_mlp_res", true);
  k.set("use_residual", true);
}

/// Files omit the tower, so that its sizes do not matter.
void cogvlm(GgufKeys& k) {
  k.set("vision_config", json::object{{"hidden_size", 1},
                                      {"intermediate_size", 1},
                                      {"patch_size", 1},
                                      {"num_positions", 1},
                                      {"num_hidden_layers", 1}});
}

/// Entry `i` of a list; 0 where the list ends before.
static Size entry(const std::vector<Size>& list, Size i) {
  const auto at = static_cast<std::size_t>(i);
  return at < list.size() ? list[at] : 0;
}

/// Without key-value heads a layer's attention is one matrix, without heads at all it has none.
/// Source: llama.cpp, src/models/deci.cpp.
void deci(GgufKeys& k) {
  const auto heads = k.by_layer("attention.head_count");
  const auto kv = k.by_layer("attention.head_count_kv");
  const auto inner = k.by_layer("feed_forward_length");
  json::array blocks;
  for (Size i = 0; i < std::min(k.layers(), most_layers); ++i) {
    const Size query = entry(heads, i), own = entry(kv, i), wide = entry(inner, i);
    json::object attention, ffn;
    if (own > 0)
      attention["n_heads_in_group"] = query / own;
    else
      attention[query > 0 ? "replace_with_linear" : "no_op"] = true;
    if (wide > 0)
      ffn["intermediate_size"] = wide;
    else
      ffn["no_op"] = true;
    blocks.push_back({{"attention", std::move(attention)}, {"ffn", std::move(ffn)}});
  }
  k.set("block_configs", blocks);
}

/// Grok-2 has a dense feed-forward beside the experts.
void grok(GgufKeys& k) { k.set("residual_moe", k.some_layer_has("ffn_up.weight")); }

void grovemoe(GgufKeys& k) {
  if (const Size group = k.number("experts_per_group", 0); group > 0)
    k.set("experts_per_group", group);
}

/// The converter writes no slopes: they follow from the number of heads.
void jais(GgufKeys& k) { k.set("activation_function", "swiglu"); }

/// Multiples of the width give back the feed-forward's, without rounding.
void openelm(GgufKeys& k) {
  const Size hidden = k.number("embedding_length");
  json::array multiples;
  for (const Size inner : k.by_layer("feed_forward_length"))
    multiples.emplace_back(hidden > 0 ? static_cast<double>(inner) / static_cast<double>(hidden)
                                      : 0.0);
  k.set("ffn_multipliers", multiples);
  k.set("ffn_dim_divisor", 1);
  k.set("model_dim", hidden);
  k.set("num_transformer_layers", k.layers());
  k.set("num_query_heads", k.by_layer("attention.head_count"));
  k.set("num_kv_heads", k.by_layer("attention.head_count_kv"));
}

/// Layers of latent attention between layers of Kimi delta attention, which count from 1.
void kimi_k3(GgufKeys& k) {
  latent(k);
  const Size heads = k.number("attention.head_count");
  json::array delta;
  for (Size i = 0; i < std::min(k.layers(), most_layers); ++i)
    if (!k.layer_has(i, "attn_kv_a_mqa.weight")) delta.emplace_back(i + 1);
  k.set("linear_attn_config",
        json::object{{"num_heads", heads},
                     {"head_dim", k.number("kda.head_dim")},
                     {"short_conv_kernel_size", k.number("ssm.conv_kernel")},
                     {"kda_layers", std::move(delta)},
                     {"use_full_rank_gate", k.some_layer_has("ssm_g.weight")}});
  k.set("mla_use_output_gate", k.some_layer_has("attn_gate.weight"));
  if (const Size narrow = k.number("expert_latent_length", 0); narrow > 0) {
    k.set("routed_expert_hidden_size", narrow);
    k.set("latent_moe_use_norm", k.some_layer_has("ffn_routed_norm.weight"));
  }
  k.set("attn_res_block_size", k.number("attn_res.block_size"));
  k.set("hidden_act", "situ");
}

/// Kinds of layers; `reach` names those that see part of the context. The file lists them. Without
/// a list they are all of each four but the one numbered `full`. A window of 0 is none.
/// Source: llama.cpp, src/llama-model.cpp, load_swa_pattern.
static void set_kinds(GgufKeys& k, std::string_view reach, Size full) {
  const auto said = k.by_layer("attention.sliding_window_pattern");
  const bool none = k.number("attention.sliding_window", 1) == 0;
  const bool listed = said.size() >= static_cast<std::size_t>(k.layers());
  json::array kinds;
  for (Size i = 0; i < std::min(k.layers(), most_layers); ++i) {
    const bool short_reach = listed ? said[static_cast<std::size_t>(i)] != 0 : i % 4 != full;
    kinds.emplace_back(short_reach && !none ? reach : "full_attention");
  }
  k.set("layer_types", kinds);
}

void laguna(GgufKeys& k) {
  if (k.has("attention.sliding_window")) set_kinds(k, "sliding_attention", 0);
  k.set("num_attention_heads_per_layer", json::value_from(k.by_layer("attention.head_count")));
}

void llama4(GgufKeys& k) {
  k.set("intermediate_size_mlp", k.number("feed_forward_length"));
  k.set("intermediate_size", k.number("expert_feed_forward_length"));
  k.set("interleave_moe_layer_step", k.number("interleave_moe_layer_step", 1));
  k.set("use_qk_norm", false);  // without weights
  set_kinds(k, "chunked_attention", 3);
}

void plamo2(GgufKeys& k) {
  k.set("mamba_num_heads", k.number("ssm.time_step_rank"));
  k.set("mamba_d_state", k.number("ssm.state_size"));
  k.set("mamba_d_conv", k.number("ssm.conv_kernel"));
  k.set("hidden_size_per_head", k.number("attention.key_length"));
  k.set("layer_types", kinds_by_tensor(k, "ssm_in.weight", "mamba", "full_attention"));
}

/// Without a pattern, which the converter does not write, the first of four layers has full
/// attention.
/// Source: llama.cpp, src/models/smallthinker.cpp.
void smallthinker(GgufKeys& k) {
  k.set("moe_num_primary_experts", k.number("expert_count"));
  k.set("moe_num_active_primary_experts", k.number("expert_used_count"));
  k.set("moe_ffn_hidden_size", k.number("expert_feed_forward_length"));
  const Size window = k.number("attention.sliding_window", 0);
  if (window == 0) return;
  const auto said = k.by_layer("attention.sliding_window_pattern");
  json::array slides;
  for (Size i = 0; i < std::min(k.layers(), most_layers); ++i)
    slides.emplace_back(said.empty() ? static_cast<Size>(i % 4 != 0) : entry(said, i));
  k.set("sliding_window_layout", slides);
  k.set("sliding_window_size", window);
}

}  // namespace headroom::model::gguf
