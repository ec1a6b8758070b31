// The attention of a layer.
#include "model/describe/layers/read.hpp"

namespace headroom::model::layers {
namespace {

void read_heads(const Subtree& tree, AttentionSpec& a) {
  if (const Cache* cache = tree.cache(CacheKind::self_attention)) {
    a.causal = true;
    if (cache->kv_heads > 0 && cache->per_token % (2 * cache->kv_heads) == 0) {
      a.kv_heads = cache->kv_heads;
      a.head_dim = cache->per_token / (2 * cache->kv_heads);
      a.heads = cache->score_dims / (2 * a.head_dim);
      a.window = cache->window;
    }
  }
  a.query_width = tree.outputs({"q_proj", "query", "q", "self.query", "q_lin", "self.query_proj"});
  a.key_width = tree.outputs({"k_proj", "key", "k", "self.key", "k_lin", "self.key_proj"});
  a.gated_query_width = tree.outputs({"q_proj"});
  a.joined_width = tree.outputs({"qkv"});
}

void read_norms(const Subtree& tree, AttentionSpec& a) {
  a.inner_norm = tree.norm({"attn_sub_norm"});
  a.query_norm = tree.norm({"q_norm", "q_layernorm", "query_layernorm"});
  a.key_norm = tree.norm({"k_norm", "k_layernorm", "key_layernorm"});
  a.value_norm = tree.norm({"v_norm"});
  if (a.value_norm && a.value_norm->width == 0) a.value_norm->kind = NormKind::rms_plain;
  a.plain_head_norms = tree.has({"qk_norm"});
  a.norm_each_head_apart = tree.has({"q_layernorm.norms"});
}

void read_latent(const Subtree& tree, AttentionSpec& a) {
  const Cache* cache = tree.cache(CacheKind::latent);
  if (cache == nullptr) return;
  a.latent = true;
  a.query_rank = tree.outputs({"q_a_proj"});
  a.latent_norm = tree.norm({"kv_a_layernorm"});
  a.key_rank = a.latent_norm ? a.latent_norm->width : 0;
  a.rotated_key = tree.outputs({"kv_a_proj_with_mqa"}) - a.key_rank;
  a.latent_query_width = tree.outputs({"q_proj", "q_b_proj"});
  a.output_width = tree.inputs({"o_proj", "dense"});
  a.window = cache->window;
}

CompressedSpec read_compressed(const Subtree& tree, Size rotated) {
  CompressedSpec s{.query_rank = tree.outputs({"q_a_proj"}),
                   .rotated = rotated,
                   .group_width = tree.inputs({"o_a_proj"}),
                   .output_rank = tree.outputs({"o_a_proj"})};
  if (const Shape* sinks = tree.shape("sinks")) s.heads = sinks->front();
  if (const auto norm = tree.norm({"kv_norm"})) s.dim = norm->width;
  const Shape* bias = tree.shape("compressor.position_bias");
  if (bias != nullptr) s.rate = (*bias)[0], s.width = (*bias)[1];
  return s;
}

}  // namespace

Size adapter_rank(const Subtree& tree, Names lists) {
  const Module* list = tree.module(lists);
  if (list == nullptr) return 0;
  const Subtree adapters(tree, *list);
  for (const Tensor* t : adapters.tensors())
    if (adapters.below(t->name).ends_with(".0.weight")) return t->shape.front();
  return 0;
}

AttentionSpec read_attention(const Subtree& tree, const AttentionQuirks& quirks) {
  AttentionSpec a{quirks};
  a.hidden = tree.inputs({"q_proj", "query", "q", "self.query", "qkv_proj", "query_key_value",
                          "c_attn", "Wqkv", "q_a_proj", "attn.Wqkv", "qkv", "q_lin", "wqkv",
                          "W_pack", "self.query_proj"});
  a.result = tree.outputs({"o_proj"});
  a.adapter_rank = adapter_rank(tree, {"linear_q_adapter_list"});
  a.fused = tree.has(
      {"qkv_proj", "query_key_value", "c_attn", "Wqkv", "attn.Wqkv", "qkv", "wqkv", "W_pack"});
  a.joined = tree.has({"qkv"});
  a.gate_projection = tree.has({"gate_proj", "g_proj"});
  a.sinks = tree.shape("sinks") != nullptr || tree.shape("attention_sink_bias") != nullptr;
  read_heads(tree, a);
  a.gate_width = tree.outputs({"gate_proj", "g_proj"});
  const bool separate = tree.has({"q_proj"}) && tree.has({"v_norm", "q_norm"});
  a.values_are_keys = separate && tree.has({"k_proj", "v_norm"}) && !tree.has({"v_proj"});
  a.reuses_keys = separate && !tree.has({"k_proj"});
  read_norms(tree, a);
  if (a.compresses > 0)
    a.compressed = read_compressed(tree, a.compresses);
  else
    read_latent(tree, a);
  return a;
}

}  // namespace headroom::model::layers
