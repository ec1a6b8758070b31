#include "model/checkpoint/gguf/adaptations.hpp"

#include <boost/json.hpp>

namespace headroom::model::gguf {

namespace json = boost::json;

bool has_experts(const GgufKeys& k) { return k.number("expert_count", 0) > 0; }

/// The first layer that has a tensor, and the distance to the next one.
struct Period {
  Size first = 0, every = 1;
};
static Period period_of(const GgufKeys& k, std::string_view tensor) {
  Period p{k.layers(), 1};
  for (Size i = k.layers(); i-- > 0;)
    if (k.layer_has(i, tensor)) {
      p.every = p.first < k.layers() ? p.first - i : 1;
      p.first = i;
    }
  return p;
}

/// Multi-head latent attention (MLA): widths of queries and keys with and without position.
void latent(GgufKeys& k) {
  const Size rotated = k.number("rope.dimension_count");
  const Size key = k.number("attention.key_length_mla", k.number("attention.key_length"));
  const Size value = k.number("attention.value_length_mla", k.number("attention.value_length", 0));
  k.set("kv_lora_rank", k.number("attention.kv_lora_rank"));
  k.set("q_lora_rank", k.has("attention.q_lora_rank")
                           ? json::value(k.number("attention.q_lora_rank"))
                           : json::value(nullptr));
  k.set("qk_rope_head_dim", rotated);
  k.set("qk_nope_head_dim", key - rotated);
  if (value > 0) k.set("v_head_dim", value);
  k.set("num_key_value_heads", k.number("attention.head_count"));
  for (const std::string_view key_of_others : {"head_dim", "partial_rotary_factor"})
    k.erase(key_of_others);
}

void phi2(GgufKeys& k) { k.set("qk_layernorm", k.layer_has(0, "attn_q_norm.weight")); }

void gpt_bigcode(GgufKeys& k) { k.set("multi_query", k.number("attention.head_count_kv", 1) == 1); }

void falcon(GgufKeys& k) {
  const Size heads = k.number("attention.head_count");
  const Size kv = k.number("attention.head_count_kv", 1);
  k.set("multi_query", kv == 1);
  k.set("new_decoder_architecture", kv != 1 && kv != heads);
  k.set("num_ln_in_parallel_attn", k.layer_has(0, "attn_norm_2.weight") ? 2 : 1);
  k.set("parallel_attn", !k.layer_has(0, "ffn_norm.weight"));
  k.set("bias", k.layer_has(0, "attn_qkv.bias"));
  k.set("ffn_hidden_size", k.number("feed_forward_length"));
}

void gpt_neox(GgufKeys& k) { k.set("attention_bias", k.layer_has(0, "attn_qkv.bias")); }

void stablelm(GgufKeys& k) { k.set("use_parallel_residual", !k.layer_has(0, "ffn_norm.weight")); }

void starcoder2(GgufKeys& k) { k.set("use_bias", k.layer_has(0, "attn_output.bias")); }

void dbrx(GgufKeys& k) {
  k.set("attn_config.kv_n_heads", k.number("attention.head_count_kv"));
  k.set("ffn_config.ffn_hidden_size", k.number("feed_forward_length"));
  k.set("ffn_config.moe_num_experts", k.number("expert_count"));
  k.set("ffn_config.moe_top_k", k.number("expert_used_count"));
}

void mixtral(GgufKeys& k) { k.erase("sliding_window"); }

void qwen2_moe(GgufKeys& k) {
  // The converter of 2024 stored the shared expert's width in its tensors only.
  const Size shared = k.rows("blk.0.ffn_gate_shexp.weight");
  if (shared > 0) k.set("shared_expert_intermediate_size", shared);
  const Size inner = k.rows("blk.0.ffn_down_exps.weight") > 0
                         ? k.columns("blk.0.ffn_down_exps.weight")
                         : k.number("expert_feed_forward_length");
  k.set("moe_intermediate_size", inner);
}

/// Gated delta net layers in addition to attention.
void delta_net(GgufKeys& k) {
  const Size value_heads = k.number("ssm.time_step_rank");
  k.set("linear_conv_kernel_dim", k.number("ssm.conv_kernel"));
  k.set("linear_key_head_dim", k.number("ssm.state_size"));
  k.set("linear_num_key_heads", k.number("ssm.group_count"));
  k.set("linear_num_value_heads", value_heads);
  if (value_heads > 0) k.set("linear_value_head_dim", k.number("ssm.inner_size") / value_heads);
  json::array types;
  for (Size i = 0; i < std::min(k.layers(), most_layers); ++i)
    types.emplace_back(k.layer_has(i, "ssm_a") ? "linear_attention" : "full_attention");
  k.set("layer_types", types);
}

void deepseek(GgufKeys& k) {
  latent(k);
  if (!k.has("expert_count")) k.set("first_k_dense_replace", k.layers());
  k.set("moe_layer_freq", 1);
}
/// The indexer that selects tokens for sparse attention.
void sparse_latent(GgufKeys& k) {
  deepseek(k);
  k.set("index_n_heads", k.number("attention.indexer.head_count"));
  k.set("index_head_dim", k.number("attention.indexer.key_length"));
  k.set("index_topk", k.number("attention.indexer.top_k"));
  json::array types;
  for (Size i = 0; i < std::min(k.layers(), most_layers); ++i)
    types.emplace_back(k.layer_has(i, "indexer.attn_k.weight") ? "full" : "shared");
  k.set("indexer_types", types);
}
bool corrects_routing(const GgufKeys& k) { return k.some_layer_has("exp_probs_b.bias"); }

void ernie_moe(GgufKeys& k) {
  k.set("moe_num_experts", k.number("expert_count"));
  k.set("moe_k", k.number("expert_used_count"));
  k.set("moe_layer_interval", k.number("interleave_moe_layer_step", 1));
  k.set("use_bias", k.layer_has(0, "attn_q.bias"));
}

void llama4(GgufKeys& k) {
  k.set("intermediate_size_mlp", k.number("feed_forward_length"));
  k.set("intermediate_size", k.number("expert_feed_forward_length"));
  k.set("interleave_moe_layer_step", k.number("interleave_moe_layer_step", 1));
  k.set("use_qk_norm", false);  // without weights
}

void cohere2_moe(GgufKeys& k) {
  k.set("intermediate_size", k.number("expert_feed_forward_length"));
  const Size dense = k.number("feed_forward_length", 0);
  if (dense > 0) k.set("prefix_dense_intermediate_size", dense);
}

void gemma4(GgufKeys& k) {
  const auto kv = k.by_layer("attention.head_count_kv");
  const auto slides = k.by_layer("attention.sliding_window_pattern");
  for (std::size_t i = 0; i < std::min(kv.size(), slides.size()); ++i)
    k.set(slides[i] != 0 ? "num_key_value_heads" : "num_global_key_value_heads", kv[i]);
  k.set("head_dim", k.number("attention.key_length_swa", k.number("attention.key_length")));
  k.set("global_head_dim", k.number("attention.key_length"));
  k.set("hidden_size_per_layer_input", k.number("embedding_length_per_layer_input", 0));
  k.set("num_kv_shared_layers", k.number("attention.shared_kv_layers", 0));
  if (const Size rows = k.rows("per_layer_token_embd.weight"); rows > 0)
    k.set("vocab_size_per_layer_input", rows);
  const Size last_full = k.layers() - 1;
  k.set("attention_k_eq_v",
        k.layer_has(last_full, "attn_k.weight") && !k.layer_has(last_full, "attn_v.weight"));
  k.set("enable_moe_block", k.number("expert_count", 0) > 0);
  k.set("top_k_experts", k.number("expert_used_count", 0));
}

void glm4_moe(GgufKeys& k) {
  k.set("first_k_dense_replace", period_of(k, "ffn_gate_inp.weight").first);
}

void laguna(GgufKeys& k) {
  k.set("num_attention_heads_per_layer", json::value_from(k.by_layer("attention.head_count")));
}

/// The width of an expert is under the key of a dense model.
void experts_of_intermediate_size(GgufKeys& k) {
  k.set("intermediate_size",
        k.number("expert_feed_forward_length", k.number("feed_forward_length")));
}

void granite_moe(GgufKeys& k) {
  k.set("shared_intermediate_size", k.number("expert_shared_feed_forward_length", 0));
}

void mamba(GgufKeys& k) {
  k.set({"state_size", "mamba_d_state"}, k.number("ssm.state_size"));
  k.set({"conv_kernel", "mamba_d_conv"}, k.number("ssm.conv_kernel"));
  k.set({"time_step_rank", "mamba_dt_rank"}, k.number("ssm.time_step_rank"));
  const Size hidden = k.number("embedding_length"), inner = k.number("ssm.inner_size");
  k.set({"expand", "mamba_expand"}, hidden > 0 ? inner / hidden : 1);
  k.set({"use_conv_bias", "mamba_conv_bias"}, k.some_layer_has("ssm_conv1d.bias"));
  k.set({"use_bias", "mamba_proj_bias"}, k.some_layer_has("ssm_in.bias"));
}

void mamba2(GgufKeys& k) {
  mamba(k);
  const Size heads = k.rows("blk.0.ssm_a");
  k.set("num_heads", heads);
  if (heads > 0) k.set("head_dim", k.number("ssm.inner_size") / heads);
  k.set("n_groups", k.number("ssm.group_count"));
}

void jamba(GgufKeys& k) {
  mamba(k);
  const Period attention = period_of(k, "attn_q.weight"),
               mixture = period_of(k, "ffn_gate_inp.weight");
  k.set("attn_layer_offset", attention.first);
  k.set("attn_layer_period", std::max(attention.every, attention.first + 1));
  k.set("expert_layer_offset", mixture.first);
  k.set("expert_layer_period", std::max(mixture.every, mixture.first + 1));
  k.set("num_experts_per_tok", k.number("expert_used_count"));
}

void nemotron_h(GgufKeys& k) {
  std::string pattern;
  for (Size i = 0; i < std::min(k.layers(), most_layers); ++i)
    pattern += k.layer_has(i, "ssm_in.weight")         ? 'M'
               : k.layer_has(i, "attn_q.weight")       ? '*'
               : k.layer_has(i, "ffn_gate_inp.weight") ? 'E'
                                                       : '-';
  k.set("hybrid_override_pattern", pattern);
  const Size heads = k.number("ssm.time_step_rank");
  k.set("mamba_num_heads", heads);
  if (heads > 0) k.set("mamba_head_dim", k.number("ssm.inner_size") / heads);
  k.set("mamba_n_groups", k.number("ssm.group_count"));
  k.set("ssm_state_size", k.number("ssm.state_size"));
  k.set("mamba_d_conv", k.number("ssm.conv_kernel"));
  k.set("mamba_conv_bias", k.some_layer_has("ssm_conv1d.bias"));
  if (k.has("expert_shared_feed_forward_length"))
    k.set("moe_shared_expert_intermediate_size", k.number("expert_shared_feed_forward_length"));
}

void lfm2(GgufKeys& k) {
  json::array types;
  for (Size i = 0; i < std::min(k.layers(), most_layers); ++i)
    types.emplace_back(k.layer_has(i, "attn_q.weight") ? "full_attention" : "conv");
  k.set("layer_types", types);
  k.set("conv_L_cache", k.number("shortconv.l_cache"));
  k.set("block_auto_adjust_ff_dim", false);
}

void bert(GgufKeys& k) {
  k.set("type_vocab_size", k.rows("token_types.weight"));
  k.set("max_position_embeddings", k.rows("position_embd.weight"));
  k.set("tie_word_embeddings", true);
}

void t5(GgufKeys& k) {
  k.set("num_decoder_layers", k.number("decoder_block_count", k.layers()));
  k.set("relative_attention_num_buckets", k.number("attention.relative_buckets_count", 32));
  const bool gated = k.has_tensor("enc.blk.0.ffn_gate.weight");
  k.set("feed_forward_proj", gated ? "gated-gelu" : "relu");
  k.set("is_encoder_decoder", true);
}

bool has_own_positions(const GgufKeys& k) { return k.has_tensor("enc.blk.1.attn_rel_b.weight"); }
bool slides(const GgufKeys& k) { return k.has("attention.sliding_window"); }
bool has_shared_expert(const GgufKeys& k) {
  return k.number("expert_shared_feed_forward_length", 0) > 0;
}

}  // namespace headroom::model::gguf
