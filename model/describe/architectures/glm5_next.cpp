// GLM-5-Next (GLM-5.3-Flash). Three of four layers have Kimi delta attention. The others have
// latent attention without rotations over selected pools of tokens. Hyper-connections mix the
// residual streams.
#include <algorithm>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vision_towers.hpp"
#include "model/describe/blocks/experts.hpp"
#include "model/describe/blocks/latent.hpp"
#include "model/describe/blocks/recurrent.hpp"
#include "model/describe/class_defaults.hpp"

namespace headroom::model::families::glm5_next {

constexpr Classes k{"Glm5NextText"};

/// Delta attention with a gate value for each channel (arXiv:2510.26692).
Part delta_attention(const Config& c) {
  const Size hidden = c.dim({"hidden_size"});
  const Config own = c.section_or_empty("linear_attn_config");
  const Size heads = own.dim({"num_heads"}, c.dim({"linear_num_heads"}, 64));
  const Size dim = own.dim({"head_dim"}, c.dim({"linear_head_dim"}, 128));
  const DeltaNet d{
      .key_heads = heads,
      .value_heads = heads,
      .key_dim = dim,
      .value_dim = dim,
      .kernel = own.dim({"short_conv_kernel_size"}, c.dim({"linear_conv_kernel_dim"}, 4)),
      .type = channel_gated_state};
  Part p = linear("q_proj", hidden, d.key()) + linear("k_proj", hidden, d.key()) +
           linear("v_proj", hidden, d.value()) +
           depthwise_conv("conv1d", d.convolved(), d.kernel, Bias::no) +
           in("forget_gate", k("ForgetGate"),
              tensor("dt_bias", {d.key()}, Role::other) + tensor("A_log", {heads}, Role::other) +
                  linear("f_a_proj", hidden, dim) + linear("f_b_proj", dim, d.key())) +
           linear("b_proj", hidden, heads) + linear("g_a_proj", hidden, dim) +
           linear("g_b_proj", dim, d.key()) + rms_norm("o_norm", k("RMSNormGated"), dim) +
           linear("o_proj", d.value(), hidden);
  p.caches = {delta_net_state(d)};
  return in("self_attn", k("LinearAttention"), std::move(p));
}

/// Selects pools of index_kpool tokens. It caches three things for each token: a key, the key's
/// pooling score, and whether the token counts. Kernels that pool at once keep one key in FP8 for
/// each pool. Source: vLLM 0.33, models/glm5next/common/attention.py.
Part pooling_indexer(const Config& c, Size query_rank) {
  const Size hidden = c.dim({"hidden_size"}), pool = c.dim({"index_kpool"}, 16);
  const Size heads = c.dim({"index_n_heads"}, 32), dim = c.dim({"index_head_dim"}, 128);
  Part p = tensor("index_kpool_compress_ape", {pool, dim}, Role::other) +
           tensor("index_kpool_compress_gate", {dim, hidden}, Role::matmul) +
           linear("wq_b", query_rank, heads * dim) + linear("wk", hidden, dim) +
           layer_norm("k_norm", dim) + linear("weights_proj", hidden, heads);
  p.caches = {{.kind = CacheKind::indexer,
               .per_token = 2 * dim + 1,
               .score_dims = std::max<Size>(heads * dim / pool, 1),
               .entry_tokens = pool,
               .entry_bytes = fp8_index_bytes(dim)}};
  return in("indexer", k("Indexer"), std::move(p));
}

/// Latent attention over index_topk selected tokens, plus the tokens after the last complete pool
/// unless index_kpool_always_select_tail is off. Layers of type "shared" reuse an earlier layer's
/// selection.
Part picking_attention(const Config& c, Size layer) {
  if (const Size rope = c.count({"qk_rope_head_dim"}, 0); rope != 0)
    c.fail("qk_rope_head_dim",
           "found " + std::to_string(rope) + ", expected 0: nothing is rotated");
  const Latent a{.heads = c.dim({"num_attention_heads"}),
                 .query_rank = c.dim({"q_lora_rank"}),
                 .rank = c.dim({"kv_lora_rank"}),
                 .nope = c.dim({"qk_nope_head_dim"}),
                 .rope = 0,
                 .value = c.dim({"v_head_dim"})};
  const Size top = c.dim({"index_topk"}, 2048), pool = c.dim({"index_kpool"}, 16);
  if (top % pool != 0)
    c.fail("index_topk", "found " + std::to_string(top) + ", expected a multiple of index_kpool");
  Part p =
      latent_attention(c.dim({"hidden_size"}), a, k("RMSNorm"), c.bias({"attention_bias"}, false));
  p.caches.front().picked = top + (c.flag({"index_kpool_always_select_tail"}, true) ? pool - 1 : 0);
  return in("self_attn", k("Attention"),
            has_indexer(c, layer) ? std::move(p) + pooling_indexer(c, a.query_rank) : std::move(p));
}

bool attends(const Config& c, Size i) {
  const auto types = c.texts({"layer_types"});
  if (types.empty()) return i % 4 == 3;
  return layer_type(c, types, i) != "linear_attention";
}

Part feed_forward(const Config& c, Size i) {
  const Size hidden = c.dim({"hidden_size"}), inner = c.dim({"moe_intermediate_size"});
  const std::string act = activation_class(c, {"hidden_act"}, "silu");
  const auto types = c.texts({"mlp_layer_types"});
  if (types.empty() ? i < 3 : layer_type(c, types, i, "mlp_layer_types") != "sparse")
    return in("mlp", k("MLP"), gated_mlp(hidden, c.dim({"intermediate_size"}), act));
  const Routing r = routing_of(c, {"n_routed_experts"});
  return in("mlp", k("MoE"),
            in("experts", k("Experts"), stacked_experts(hidden, inner, r)) +
                corrected_router("gate", k("TopkRouter"), hidden, r.experts) +
                in("shared_experts", k("MLP"),
                   gated_mlp(hidden, inner * c.count({"n_shared_experts"}, 1), act)));
}

/// Manifold-constrained hyper-connections: collapse, expand and mix hc_mult streams.
Part connection(const Config& c, std::string_view name) {
  const Size streams = c.dim({"hc_mult"}, 4), mixed = (2 + streams) * streams;
  return in(name, k("HyperConnection"),
            tensor("fn", {mixed, streams * c.dim({"hidden_size"})}, Role::matmul) +
                tensor("base", {mixed}, Role::other) + tensor("scale", {3}, Role::other) +
                module("input_norm", k("UnweightedRMSNorm")));
}

Part text_body(const Config& c) {
  const Size hidden = c.dim({"hidden_size"});
  const Part delta = delta_attention(c);
  const Config own = c.section_or_empty("linear_attn_config");
  return with_quirks(
      unsplittable(embedding("embed_tokens", c.dim({"vocab_size"}), hidden) +
                       stack("layers", k("DecoderLayer"), c.dim({"num_hidden_layers"}),
                             [&](Size i) {
                               return (attends(c, i) ? picking_attention(c, i) : delta) +
                                      feed_forward(c, i) +
                                      rms_norm("input_layernorm", k("RMSNorm"), hidden) +
                                      rms_norm("post_attention_layernorm", k("RMSNorm"), hidden) +
                                      connection(c, "attn_hc") + connection(c, "ffn_hc");
                             }) +
                       rms_norm("norm", k("RMSNorm"), hidden) + module("hc_head", k("HyperHead")),
                   {k("DecoderLayer")}),
      {.attention = {.rotation = Rotation::none, .always_masked = true, .chooses_keys = true},
       .router = {.kind = RouterKind::sigmoid},
       .mixer = {.bounded_gate = own.flag({"safe_gate"}, true)},
       .balancing_steps = c.dim({"hc_sinkhorn_iters"}, 20),
       .clamps_gating = true});
}

/// GLM-4.1V's tower without its learned positions.
Part tower(const Config& v) {
  const std::string name = "Glm5Next", norm = name + "RMSNorm";
  const Size width = v.dim({"hidden_size"}), out = v.dim({"out_hidden_size"});
  const Size dim = width / v.dim({"num_heads"}), merge = v.dim({"spatial_merge_size"}, 2);
  const Size inner = v.dim({"intermediate_size"}), wide = v.dim({"projection_intermediate_size"});
  const auto [patch_height, patch_width] = pair_of(v, "patch_size", 14);
  const Bias bias = v.bias({"attention_bias"}, true);
  const std::string act = activation_class(v, {"hidden_act"}, "silu");
  return in("patch_embed", name + "VisionPatchEmbed",
            convolution("proj", "Conv3d",
                        {width, v.dim({"in_channels"}, 3), v.dim({"temporal_patch_size"}, 2),
                         patch_height, patch_width},
                        Bias::yes)) +
         frequencies("rotary_pos_emb", name + "VisionRotaryEmbedding", dim / 4) +
         stack("blocks", name + "VisionBlock", v.dim({"depth"}),
               [&] {
                 return rms_norm("norm1", norm, width) + rms_norm("norm2", norm, width) +
                        in("attn", name + "VisionAttention",
                           linear("qkv", width, 3 * width, bias) +
                               linear("proj", width, width, bias) + head_norms(norm, dim)) +
                        in("mlp", name + "VisionMLP", gated_mlp(width, inner, act, bias));
               }) +
         in("merger", name + "VisionPatchMerger",
            linear("proj", out, out) + layer_norm("post_projection_norm", out) +
                linear("gate_proj", out, wide) + linear("up_proj", out, wide) +
                linear("down_proj", wide, out) + module("act1", "GELU") + module("act_fn", act)) +
         convolution("downsample", "Conv2d", {out, width, merge, merge}, Bias::yes) +
         rms_norm("post_layernorm", norm, width);
}

/// Source: transformers 5.23, models/glm5_next/{configuration,modeling}_glm5_next.py.
Part glm5_next(const Config& c) {
  const Config text = section_of(c, "text_config", "glm5_next_text");
  const Config v = section_of(c, "vision_config", "glm5_next_vision");
  Part body = in("model", "Glm5NextModel",
                 in("visual", "Glm5NextVisionModel", tower(v)) +
                     in("language_model", k("Model"), text_body(text)));
  return with_language_head(
      with_unsplittable(std::move(body), {"Glm5NextVisionBlock", "Glm5NextVisionPatchMerger"}),
      text, head_is_tied(c, text, false, Inherit::no), "model.language_model.embed_tokens.weight");
}

/// The text model alone. Source: vLLM 0.33 models/glm5next/common/model.py.
Part glm5_next_text(const Config& c) {
  const Config text = c.has("text_config") ? section_of(c, "text_config", "glm5_next_text")
                                           : with_class_defaults(c, "glm5_next_text");
  return in("model", k("Model"), text_body(text)) +
         lm_head("model.embed_tokens.weight", text.dim({"vocab_size"}), text.dim({"hidden_size"}),
                 text.flag({"tie_word_embeddings"}, false));
}

}  // namespace headroom::model::families::glm5_next
