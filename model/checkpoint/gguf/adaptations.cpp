#include "model/checkpoint/gguf/adaptations.hpp"

#include <boost/json.hpp>

namespace headroom::model::gguf {

namespace json = boost::json;

json::array kinds_by_tensor(const GgufKeys& k, std::string_view tensor, std::string_view with,
                            std::string_view without) {
  json::array kinds;
  for (Size i = 0; i < std::min(k.layers(), most_layers); ++i)
    kinds.emplace_back(k.layer_has(i, tensor) ? with : without);
  return kinds;
}

bool has_experts(const GgufKeys& k) { return k.number("expert_count", 0) > 0; }

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

/// Qwen's first models count both halves of the gated feed-forward.
void qwen(GgufKeys& k) { k.set("intermediate_size", k.rows("blk.0.ffn_up.weight")); }

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
  k.set("indexer_types", kinds_by_tensor(k, "indexer.attn_k.weight", "full", "shared"));
}
bool corrects_routing(const GgufKeys& k) { return k.some_layer_has("exp_probs_b.bias"); }

void ernie_moe(GgufKeys& k) {
  k.set("moe_num_experts", k.number("expert_count"));
  k.set("moe_k", k.number("expert_used_count"));
  k.set("moe_layer_interval", k.number("interleave_moe_layer_step", 1));
  k.set("use_bias", k.layer_has(0, "attn_q.bias"));
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

/// The width of an expert is under the key of a dense model.
void experts_of_intermediate_size(GgufKeys& k) {
  k.set("intermediate_size",
        k.number("expert_feed_forward_length", k.number("feed_forward_length")));
}

void granite_moe(GgufKeys& k) {
  k.set("shared_intermediate_size", k.number("expert_shared_feed_forward_length", 0));
}

void orion(GgufKeys& k) {
  k.set("use_parallel_residual", false);
  k.set("partial_rotary_factor", 1.0);
}

void gemma3n(GgufKeys& k) {
  k.set("hidden_size_per_layer_input", k.rows("blk.0.inp_gate.weight"));
  k.set("altup_num_inputs", k.number("altup.num_inputs", 4));
  k.set("laurel_rank", k.rows("blk.0.laurel_l.weight"));
  // llama.cpp, src/models/gemma3n.cpp: n_layer_kv_from_start, whatever the file says.
  constexpr Size with_caches = 20;
  k.set("num_kv_shared_layers", std::max<Size>(0, k.layers() - with_caches));
  if (const Size rows = k.rows("per_layer_token_embd.weight"); rows > 0)
    k.set("vocab_size_per_layer_input", rows);
}

void hunyuan_moe(GgufKeys& k) {
  k.set("moe_topk", k.number("expert_used_count"));
  k.set("intermediate_size", k.number("expert_feed_forward_length"));
}

/// Files omit the autoencoder, so that its sizes do not matter.
void chameleon(GgufKeys& k) { k.set("vq_config.channel_multiplier", json::array{1}); }

/// Kinds of feed-forward by layer: a mixture where the layer has a router.
static void mixtures_by_router(GgufKeys& k) {
  k.set("mlp_layer_types", kinds_by_tensor(k, "ffn_gate_inp.weight", "sparse", "dense"));
}

/// Layers behind a window have key-value heads of their own. The file counts the window without
/// the current token, as `sliding_window_size` does.
void mimo2(GgufKeys& k) {
  const auto kv = k.by_layer("attention.head_count_kv");
  const auto slides = k.by_layer("attention.sliding_window_pattern");
  for (std::size_t i = 0; i < std::min(kv.size(), slides.size()); ++i)
    k.set(slides[i] != 0 ? "swa_num_key_value_heads" : "num_key_value_heads", kv[i]);
  k.set("v_head_dim", k.number("attention.value_length"));
  k.set("sliding_window_size", k.number("attention.sliding_window"));
  k.erase("sliding_window");
  mixtures_by_router(k);
}

void minimax_m3(GgufKeys& k) {
  k.set("dense_intermediate_size", k.number("feed_forward_length"));
  k.set("intermediate_size", k.number("expert_feed_forward_length"));
  const Size shared = k.number("expert_shared_feed_forward_length", 0);
  k.set("shared_intermediate_size", shared > 0 ? shared : k.number("expert_feed_forward_length"));
  k.set("index_n_heads", k.number("attention.indexer.head_count"));
  k.set("index_head_dim", k.number("attention.indexer.key_length"));
  const Size block = std::max<Size>(k.number("attention.indexer.block_size", 128), 1);
  k.set("index_block_size", block);
  k.set("index_topk_blocks", std::max<Size>(k.number("attention.indexer.top_k"), 1));
  k.set("layer_types",
        kinds_by_tensor(k, "indexer.q_proj.weight", "minimax_m3_sparse", "full_attention"));
  mixtures_by_router(k);
}

/// The residual streams of hyper-connections.
static void streams(GgufKeys& k) { k.set("hc_mult", k.number("hyper_connection.count")); }

void hy_v4(GgufKeys& k) {
  sparse_latent(k);
  streams(k);
  mixtures_by_router(k);
}

/// The last layers of `compress_ratios` predict further tokens.
void deepseek4(GgufKeys& k) {
  streams(k);
  k.erase("layer_types");  // every layer has a window
  auto ratios = k.by_layer("attention.compress_ratios");
  ratios.resize(std::min(ratios.size(), static_cast<std::size_t>(k.layers())));
  k.set("compress_ratios", json::value_from(ratios));
  k.set("q_lora_rank", k.number("attention.q_lora_rank"));
  k.set("o_groups", k.number("attention.output_group_count"));
  k.set("o_lora_rank", k.number("attention.output_lora_rank"));
  k.set("index_n_heads", k.number("attention.indexer.head_count"));
  k.set("index_head_dim", k.number("attention.indexer.key_length"));
  k.set("index_topk", k.number("attention.indexer.top_k"));
  k.set("num_hash_layers", k.number("hash_layer_count", 0));
}

/// Sliding layers have latent attention of sizes of their own.
void dots3_note(GgufKeys& k) {
  sparse_latent(k);
  k.erase("indexer_types");
  const Size rotated = k.number("rope.dimension_count_swa", k.number("rope.dimension_count"));
  const Size key = k.number("attention.key_length_mla_swa");
  k.set("swa_num_attention_heads", k.number("attention.head_count"));
  k.set("swa_kv_lora_rank", k.number("attention.kv_lora_rank_swa"));
  k.set("swa_q_lora_rank", k.number("attention.q_lora_rank"));
  k.set("swa_qk_nope_head_dim", key - rotated);
  k.set("swa_qk_rope_head_dim", rotated);
  k.set("swa_head_dim", key);
  k.set("swa_v_head_dim", k.number("attention.value_length_mla_swa"));
  k.set("use_dsa", true);
  const Size shared = k.rows("blk.1.ffn_up_shexp.weight");
  if (shared > 0) k.set("shared_experts_intermediate_size", shared);
  k.set("n_shared_experts", 1);
  mixtures_by_router(k);
}

void hrm_text(GgufKeys& k) {
  k.set("num_layers_per_stack", k.number("hrm.layers_per_stack"));
  k.set("H_cycles", k.number("hrm.h_cycles"));
  k.set("L_cycles", k.number("hrm.l_cycles"));
}

/// Sliding layers have a number of query heads of their own.
void step35(GgufKeys& k) {
  const auto heads = k.by_layer("attention.head_count");
  const auto slides = k.by_layer("attention.sliding_window_pattern");
  for (std::size_t i = 0; i < std::min(heads.size(), slides.size()); ++i)
    k.set(slides[i] != 0 ? "num_sliding_attention_heads" : "num_attention_heads", heads[i]);
  const Size shared = k.number("expert_shared_feed_forward_length", 0);
  k.set("share_expert_dim", shared > 0 ? shared : k.number("expert_feed_forward_length"));
  mixtures_by_router(k);
}

void glm5_next(GgufKeys& k) {
  sparse_latent(k);
  streams(k);
  k.set("index_kpool", k.number("attention.indexer.kpool"));
  k.set("linear_num_heads", k.number("attention.head_count"));
  k.set("linear_head_dim", k.number("kda.head_dim"));
  k.set("linear_conv_kernel_dim", k.number("ssm.conv_kernel"));
  k.set("layer_types",
        kinds_by_tensor(k, "attn_kv_a_mqa.weight", "full_attention", "linear_attention"));
  mixtures_by_router(k);
}

bool slides(const GgufKeys& k) { return k.has("attention.sliding_window"); }
bool has_shared_expert(const GgufKeys& k) {
  return k.number("expert_shared_feed_forward_length", 0) > 0;
}

}  // namespace headroom::model::gguf
