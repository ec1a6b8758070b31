// Config keys of architectures with state-space, linear or convolutional mixers.
#include <algorithm>
#include <boost/json.hpp>

#include "model/checkpoint/gguf/adaptations.hpp"

namespace headroom::model::gguf {

Period period_of(const GgufKeys& k, std::string_view tensor) {
  Period p{k.layers(), 1};
  for (Size i = k.layers(); i-- > 0;)
    if (k.layer_has(i, tensor)) {
      p.every = p.first < k.layers() ? p.first - i : 1;
      p.first = i;
    }
  return p;
}

/// Gated delta net layers in addition to attention.
void delta_net(GgufKeys& k) {
  const Size value_heads = k.number("ssm.time_step_rank");
  k.set("linear_conv_kernel_dim", k.number("ssm.conv_kernel"));
  k.set("linear_key_head_dim", k.number("ssm.state_size"));
  k.set("linear_num_key_heads", k.number("ssm.group_count"));
  k.set("linear_num_value_heads", value_heads);
  if (value_heads > 0) k.set("linear_value_head_dim", k.number("ssm.inner_size") / value_heads);
  k.set("layer_types", kinds_by_tensor(k, "ssm_a", "linear_attention", "full_attention"));
}

/// One layer at most has hashed embeddings. The file has the rows of their table, which the config
/// derives from prime numbers: any small ones, rounded up to that number.
void qwen4_exp(GgufKeys& k) {
  delta_net(k);
  k.set("hc_count", k.number("hyper_connection.count"));
  k.set("hc_lowrank", k.number("hyper_connection.low_rank"));
  k.set("indexer_n_heads", k.number("attention.indexer.head_count"));
  k.set("indexer_head_dim", k.number("attention.indexer.key_length"));
  k.set("indexer_kv_heads", 1);
  const Size block = std::max<Size>(k.number("attention.compress_ratios", 0), 1);
  k.set("indexer_compress_ratio", block);
  k.set("indexer_budget", k.number("attention.indexer.top_k") / block * block);
  if (!k.has("ple.layers")) return;
  const Size tokens = k.number("ple.ngram_size"), heads = k.number("ple.heads_per_ngram");
  k.set("ple_layer_ids", boost::json::array{k.number("ple.layers") + 1});
  k.set("ngram_size", tokens);
  k.set("heads_per_ngram", heads);
  k.set("ple_conv_kernel_size", k.number("ple.conv_kernel"));
  k.set("ple_embed_dim", k.number("embedding_length_per_layer_input") * heads * (tokens - 1));
  k.set("eos_token_id", k.number("ple.eos_token_id", 0));
  k.set("ngram_vocab_size_base", 2);
  const Size rows = k.rows("per_layer_token_embd.weight");
  if (rows > 0) k.set("make_ngram_vocab_size_divisible_by", rows);
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
  k.set("layer_types", kinds_by_tensor(k, "attn_q.weight", "full_attention", "conv"));
  k.set("conv_L_cache", k.number("shortconv.l_cache"));
  k.set("block_auto_adjust_ff_dim", false);
}

/// Mamba 2 under the keys of Granite and Falcon.
static void mamba2_mixer(GgufKeys& k) {
  const Size heads = k.number("ssm.time_step_rank"), inner = k.number("ssm.inner_size");
  const Size hidden = k.number("embedding_length");
  k.set("mamba_expand", hidden > 0 && inner % hidden == 0 ? inner / hidden : 1);
  k.set("mamba_n_heads", heads);
  if (heads > 0) k.set("mamba_d_head", inner / heads);
  k.set("mamba_n_groups", k.number("ssm.group_count"));
  k.set("mamba_d_state", k.number("ssm.state_size"));
  k.set("mamba_d_conv", k.number("ssm.conv_kernel"));
  k.set("mamba_conv_bias", k.some_layer_has("ssm_conv1d.bias"));
  k.set("mamba_proj_bias", k.some_layer_has("ssm_in.bias"));
}

void granite_hybrid(GgufKeys& k) {
  mamba2_mixer(k);
  k.set("num_local_experts", k.number("expert_count", 0));
  const Size dense = k.rows("blk.0.ffn_up.weight");
  k.set("shared_intermediate_size",
        dense > 0 ? dense : k.number("expert_shared_feed_forward_length"));
  k.set("layer_types", kinds_by_tensor(k, "ssm_in.weight", "mamba", "attention"));
}

void falcon_h1(GgufKeys& k) {
  mamba2_mixer(k);
  k.set("mamba_d_ssm", k.number("ssm.inner_size"));
  k.set("mamba_rms_norm", k.some_layer_has("ssm_norm.weight"));
}

/// Layers of latent attention between layers of Kimi delta attention.
static void delta_attention(GgufKeys& k) {
  latent(k);
  k.set("linear_head_dim", k.number("kda.head_dim"));
  k.set("layer_types",
        kinds_by_tensor(k, "attn_kv_a_mqa.weight", "full_attention", "linear_attention"));
}

void kimi_linear(GgufKeys& k) {
  delta_attention(k);
  k.set("linear_num_heads", k.number("attention.head_count"));
  k.set("linear_conv_kernel_dim", k.number("ssm.conv_kernel"));
}

void bailing_hybrid(GgufKeys& k) {
  delta_attention(k);
  k.set("short_conv_kernel_size", k.number("ssm.conv_kernel"));
}

void minimax_01(GgufKeys& k) {
  const Size inner = k.number("expert_feed_forward_length", 0);
  k.set("intermediate_size", inner > 0 ? inner : k.number("feed_forward_length"));
  k.set("layer_types", kinds_by_tensor(k, "attn_qkv.weight", "linear_attention", "full_attention"));
}

}  // namespace headroom::model::gguf
