// Ling and Ring (arXiv:2503.05139, arXiv:2510.22115) as their own code has them. The first two
// generations have grouped-query attention. Ling 2.5 mixes lightning attention (arXiv:2405.17381)
// with latent attention, Ling 3 mixes Kimi delta attention (arXiv:2510.26692) with it.
#include <algorithm>

#include "model/describe/architectures/decoder.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"
#include "model/describe/blocks/recurrent.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::bailing_moe {

/// Norms on each head, under the names of this code.
Part query_and_key_norms(Classes k, Size dim) {
  return rms_norm("query_layernorm", k("RMSNorm"), dim) +
         rms_norm("key_layernorm", k("RMSNorm"), dim);
}

/// Says if the router has an offset for each expert: the first generation has none.
enum class Offset : bool { no, yes };

Part bailing_mixture(const Config& c, Classes k, Offset offset, Bias bias) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const Routing r = routing_of(c, {"num_experts"});
  const Size shared =
      c.count({"moe_shared_expert_intermediate_size"}, inner) * c.count({"num_shared_experts"}, 0);
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  Part gate = tensor("weight", {r.experts, hidden}, Role::matmul);
  if (c.flag({"moe_router_enable_expert_bias"}, offset == Offset::yes))
    gate = std::move(gate) + score_correction(r.experts, "expert_bias");
  return in(
      "mlp", k("SparseMoeBlock"),
      fused_experts(k("Experts"), hidden, inner, r, act) + in("gate", k("Gate"), std::move(gate)) +
          (shared == 0 ? Part{}
                       : in("shared_experts", k("MLP"), gated_mlp(hidden, shared, act, bias))));
}

RouterKind router_kind(const Config& c, Offset offset) {
  const std::string_view usual = offset == Offset::no ? "softmax" : "sigmoid";
  return word_of(c, {"score_function"}, usual, {"softmax", "sigmoid"}) == "softmax"
             ? RouterKind::softmax_of_all
             : RouterKind::sigmoid;
}

/// The frame: its embedding is called word_embeddings, and every layer's attention "attention".
template <class Attention>
Part bailing(const Config& c, Classes k, Offset offset, Size rotated, Attention&& attention_of) {
  const Size hidden = c.dim({"hidden_size"}), vocab = c.dim({"vocab_size"});
  const Bias bias = c.bias({"use_bias"}, offset == Offset::no);
  const Size dense = c.count({"first_k_dense_replace"}, 0);
  const Part mixture = bailing_mixture(c, k, offset, bias), mlp = dense_mlp(c, k, bias);
  const std::string block = k("DecoderLayer");
  const Part layers = stack("layers", block, c.dim({"num_hidden_layers"}), [&](Size i) {
    return attention_of(i) + (i < dense ? mlp : mixture) +
           rms_norm("input_layernorm", k("RMSNorm"), hidden) +
           rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
  });
  return with_quirks(unsplittable(in("model", k("Model"),
                                     embedding("word_embeddings", vocab, hidden) + layers +
                                         rms_norm("norm", k("RMSNorm"), hidden) +
                                         rotary(k("RotaryEmbedding"), rotated)) +
                                      lm_head("model.word_embeddings.weight", vocab, hidden,
                                              c.flag({"tie_word_embeddings"}, false)),
                                  {block}),
                     {.attention = {.rotation = Rotation::concatenated},
                      .router = {.kind = router_kind(c, offset)}});
}

Size rotated_of(const Config& c, Size dim) {
  return c.dim_or_none({"rotary_dim"}, 0) > 0 ? c.dim({"rotary_dim"}) : rotated_dims(c, dim);
}

/// Layers of grouped-query attention. Sources: vLLM 0.33 bailing_moe.py; inclusionAI/Ling and
/// inclusionAI/Ling-V2, modeling_bailing_moe{,_v2}.py, which have no biases in feed-forwards.
Part grouped_query(const Config& c, Classes k, Offset offset) {
  const Size hidden = c.dim({"hidden_size"});
  const Heads h = heads_of(c, Defaults{});
  const bool bias = c.flag({"use_bias"}, offset == Offset::no);
  const bool qkv = bias || c.flag({"use_qkv_bias"}, false);
  Part attention =
      linear("query_key_value", hidden, (h.query + 2 * h.kv) * h.dim, qkv ? Bias::yes : Bias::no) +
      linear("dense", h.query * h.dim, hidden, bias ? Bias::yes : Bias::no);
  if (c.flag({"use_qk_norm"}, offset == Offset::yes))
    attention = std::move(attention) + query_and_key_norms(k, h.dim);
  attention.caches = {kv_cache(h)};
  const Part layer = in("attention", k("Attention"), std::move(attention));
  return bailing(c, k, offset, rotated_of(c, h.dim), [&](Size) { return layer; });
}
Part bailing_moe(const Config& c) { return grouped_query(c, {"BailingMoe"}, Offset::no); }
Part bailing_moe_v2(const Config& c) { return grouped_query(c, {"BailingMoeV2"}, Offset::yes); }

/// Latent attention whose output projection is called "dense".
Part latent_with_dense(const Config& c, Classes k, const Latent& a, Part gate = {}) {
  Part p = latent_attention(c.dim({"hidden_size"}), a, k("RMSNorm"));
  for (Module& m : p.modules)
    if (m.path == "o_proj") m.path = "dense";
  for (Tensor& t : p.tensors)
    if (t.name == "o_proj.weight") t.name = "dense.weight";
  return in("attention", k("MultiLatentAttention"), std::move(p) + std::move(gate));
}

/// The last layer of each group has latent attention, and so have layers beyond the last whole
/// group. vLLM 0.33 agrees except for the latter in Ling 2.5. A list has 1 for each linear layer
/// (SGLang 0.5.23, configs/bailing_hybrid.py).
bool is_latent(const Config& c, Size i) {
  constexpr std::string_view key = "layer_group_size";
  const Size layers = c.dim({"num_hidden_layers"});
  if (c.is_whole(key) || !c.has(key)) {
    const Size group = c.dim({key});
    return (i + 1) % group == 0 || i >= layers / group * group;
  }
  const auto kinds = c.dims({key});
  if (static_cast<Size>(kinds.size()) != layers)
    c.fail(key, "found " + std::to_string(kinds.size()) + " entries, expected one for each layer");
  return kinds[static_cast<std::size_t>(i)] != 1;
}

Latent rotated_latent_of(const Config& c) {
  if (c.flag({"use_mla_nope"}, false))
    c.fail("use_mla_nope",
           "found true, expected false: keys without a rotated part are not described");
  return latent_of(c);
}

/// A linear layer keeps a matrix of head_dim x head_dim for each head. Sources: vLLM 0.33
/// bailing_moe_linear.py and bailing_linear_attn.py; inclusionAI/Ring-V2.5,
/// modeling_bailing_moe_v2_5.py.
Part bailing_moe_v2_5(const Config& c) {
  const Classes k{"BailingMoeV2_5"};
  const Size hidden = c.dim({"hidden_size"}), heads = c.dim({"num_attention_heads"});
  const Size dim = heads_of(c, Defaults{}).dim, width = heads * dim;
  const bool bias = c.flag({"use_bias"}, false), qkv = bias || c.flag({"use_qkv_bias"}, false);
  Part lightning = linear("query_key_value", hidden, 3 * width, qkv ? Bias::yes : Bias::no) +
                   linear("dense", width, hidden, bias ? Bias::yes : Bias::no) +
                   linear("g_proj", hidden, width) + rms_norm("g_norm", k("GroupRMSNorm"), width);
  if (c.flag({"use_qk_norm"}, true)) lightning = std::move(lightning) + query_and_key_norms(k, dim);
  lightning.caches = {{.kind = CacheKind::recurrent, .per_sequence = times({heads, dim, dim})}};
  const Part linear_layer = in("attention", k("LinearAttention"), std::move(lightning));
  const Latent a = rotated_latent_of(c);
  const Part full = latent_with_dense(c, k, a);
  Part all = bailing(c, k, Offset::yes, rotated_of(c, dim),
                     [&](Size i) { return is_latent(c, i) ? full : linear_layer; });
  return std::move(all) + at("model", in("rotary_emb_mla", k("MLARotaryEmbedding"),
                                         buffer("inv_freq", {(a.rope + 1) / 2})));
}

/// Outputs of the gate on latent attention: one for each head, one for each element, or none.
Size gate_width(const Config& c, const Latent& a) {
  const std::string kind = word_of(c, {"gated_attention_proj_granularity_type"}, "none",
                                   {"none", "head_wise", "element_wise"});
  return kind == "none" ? 0 : kind == "head_wise" ? a.heads : a.heads * a.value;
}

/// Source: vLLM 0.33 bailing_moe_v3.py, with the names that its loader takes. Each projection has
/// a convolution of its own there.
Part bailing_moe_v3(const Config& c) {
  const Classes k{"BailingMoeV3"};
  const Size hidden = c.dim({"hidden_size"});
  const Latent a = rotated_latent_of(c);
  if (!c.flag({"no_kda_lora"}, false))
    c.fail("no_kda_lora",
           "found false or no key, expected true: gates of low rank are not described");
  const Size dim = c.dim({"head_dim"}), kernel = c.dim({"short_conv_kernel_size"});
  const DeltaNet d{.key_heads = a.heads,
                   .value_heads = a.heads,
                   .key_dim = dim,
                   .value_dim = dim,
                   .kernel = kernel,
                   .type = channel_gated_state};
  Part delta = linear("q_proj", hidden, d.key()) + linear("k_proj", hidden, d.key()) +
               linear("v_proj", hidden, d.value()) + linear("b_proj", hidden, a.heads) +
               linear("f_proj", hidden, d.key()) + tensor("dt_bias", {d.key()}, Role::other) +
               depthwise_conv("q_conv1d", d.key(), kernel, Bias::no) +
               depthwise_conv("k_conv1d", d.key(), kernel, Bias::no) +
               depthwise_conv("v_conv1d", d.value(), kernel, Bias::no) +
               tensor("A_log", {a.heads}, Role::other) + linear("g_proj", hidden, d.value()) +
               rms_norm("o_norm", k("RMSNormGated"), dim) + linear("o_proj", d.value(), hidden);
  delta.caches = {delta_net_state(d)};
  const Part linear_layer = in("attention", k("KimiDeltaAttention"), std::move(delta));
  const Size gates = gate_width(c, a);
  const Part full =
      latent_with_dense(c, k, a, gates == 0 ? Part{} : linear("g_proj", hidden, gates));
  // transformers 5.23 models/bailing_hybrid has this model under other names.
  return with_quirks(
      bailing(c, k, Offset::yes, a.rope,
              [&](Size i) { return is_latent(c, i) ? full : linear_layer; }),
      {.attention = {.gate_in_fp32 = true},
       .router = {.kind = router_kind(c, Offset::yes)},
       .mixer = {.bounded_gate = c.flag({"kda_safe_gate"}, true), .decay_as_held = true}});
}

}  // namespace headroom::model::families::bailing_moe
