// DBRX: 16 experts, of which a token uses four, and a fused projection for queries, keys and
// values.
#include "model/describe/blocks/experts.hpp"

namespace headroom::model::families::dbrx {

/// Source: transformers 5.23, models/dbrx.
Part dbrx(const Config& c) {
  const Classes k{"Dbrx"};
  const Size hidden = c.dim({"d_model", "hidden_size"}), vocab = c.dim({"vocab_size"});
  const Size query = c.dim({"n_heads", "num_attention_heads"});
  if (hidden % query != 0)
    c.fail("n_heads", "found " + std::to_string(query) + ", expected a divisor of d_model (" +
                          std::to_string(hidden) + ")");
  const Heads heads{query, c.section("attn_config").dim({"kv_n_heads"}, 1), hidden / query};
  const Config ffn = c.section("ffn_config");
  const Routing r = routing_of(ffn, {"moe_num_experts"}, {"moe_top_k"});
  const Size stacked = r.experts * ffn.dim({"ffn_hidden_size"}, 3584);
  const std::string act = activation_class(ffn.section_or_empty("ffn_act_fn"), {"name"}, "silu");
  Part attn = linear("Wqkv", hidden, (heads.query + 2 * heads.kv) * heads.dim) +
              linear("out_proj", hidden, hidden);
  attn.caches = {kv_cache(heads)};
  const Part experts = in("mlp", k("ExpertGLU"),
                          routed(tensor("w1", {stacked, hidden}, Role::matmul) +
                                     tensor("v1", {stacked, hidden}, Role::matmul) +
                                     tensor("w2", {stacked, hidden}, Role::matmul),
                                 r) +
                              module("activation_fn", act));
  const Part block = in("norm_attn_norm", k("NormAttentionNorm"),
                        layer_norm("norm_1", hidden, Bias::no) + in("attn", k("Attention"), attn) +
                            layer_norm("norm_2", hidden, Bias::no)) +
                     in("ffn", k("FFN"),
                        in("router", k("Router"), linear("layer", hidden, r.experts)) +
                            in("experts", k("Experts"), experts));
  // clip_qkv: no limit in the class's own config.
  const bool clamps = c.section("attn_config").has("clip_qkv");
  return with_quirks(
      unsplittable(in("transformer", k("Model"),
                      rotary(k("RotaryEmbedding"), heads.dim) + embedding("wte", vocab, hidden) +
                          stack("blocks", k("Block"), c.dim({"n_layers", "num_hidden_layers"}),
                                [&] { return block; }) +
                          layer_norm("norm_f", hidden, Bias::no)) +
                       lm_head("transformer.wte.weight", vocab, hidden,
                               c.flag({"tie_word_embeddings"}, false)),
                   {k("Block")}),
      {.attention = {.clamps_all = clamps},
       .router = {.kind = RouterKind::softmax_as_is, .one_by_one = true}});
}

}  // namespace headroom::model::families::dbrx
