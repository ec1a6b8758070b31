// Molmo (arXiv:2409.17146): CLIP's tower, whose features attention pools, and a decoder with one
// matrix for queries, keys and values.
#include <boost/json.hpp>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::molmo {

constexpr Classes k{"Molmo"};

/// Sizes of the tower, which no config states. Source: vLLM 0.33 molmo.py, VisionBackboneConfig,
/// VIT_LAYERS and ADDITIONAL_VOCAB_SIZE.
constexpr Size tower_width = 1024, tower_inner = 4096, tower_layers = 23, tower_positions = 577,
               tower_patch = 14, pooled_layers = 2, additional_vocabulary = 128;

Part tower_attention_of(Size seen) {
  return linear("wq", seen, tower_width, Bias::yes) + linear("wk", seen, tower_width, Bias::yes) +
         linear("wv", seen, tower_width, Bias::yes) +
         linear("wo", tower_width, tower_width, Bias::yes);
}

Part vision_backbone(Size inner, Size hidden) {
  const auto layer = [&] {
    return in("attention", k("VisionAttention"), tower_attention_of(tower_width)) +
           in("feed_forward", k("ViTMLP"),
              linear("w1", tower_width, tower_inner, Bias::yes) +
                  module("act", "QuickGELUActivation") +
                  linear("w2", tower_inner, tower_width, Bias::yes)) +
           layer_norm("attention_norm", tower_width) + layer_norm("ffn_norm", tower_width);
  };
  const Part vit = tensor("class_embedding", {tower_width}, Role::other) +
                   tensor("positional_embedding", {tower_positions, tower_width}, Role::embedding) +
                   linear("patch_embedding", tower_patch * tower_patch * 3, tower_width) +
                   layer_norm("pre_ln", tower_width) +
                   in("transformer", k("BlockCollection"),
                      stack("resblocks", k("ResidualAttentionBlock"), tower_layers, layer));
  return tensor("pad_embed", {2, pooled_layers * tower_width}, Role::other) +
         in("image_vit", k("VisionTransformer"), vit) +
         in("image_pooling_2d", k("VisionAttention"),
            tower_attention_of(pooled_layers * tower_width)) +
         in("image_projector", k("ImageProjectorMLP"),
            linear("w1", tower_width, inner) + linear("w3", tower_width, inner) +
                linear("w2", inner, hidden) + module("act", "SiLUActivation"));
}

Part decoder_layer_of(const Config& c, const Common& s, Size inner) {
  Part attn = linear("qkv_proj", s.hidden, (s.heads.query + 2 * s.heads.kv) * s.heads.dim,
                     c.bias({"qkv_bias"}, true)) +
              linear("o_proj", s.heads.query * s.heads.dim, s.hidden);
  if (c.flag({"attention_layer_norm"}, false))
    attn = std::move(attn) + layer_norms(k("RMSNorm"), s.heads);
  attn.caches = {kv_cache(s.heads)};
  const bool after = c.flag({"norm_after"}, false);
  return in("self_attn", k("Attention"), std::move(attn)) +
         in("mlp", k("MLP"),
            linear("gate_up_proj", s.hidden, 2 * inner) + linear("down_proj", inner, s.hidden) +
                module("act_fn", "SiLUActivation")) +
         rms_norm(after ? "post_attention_layernorm" : "input_layernorm", k("RMSNorm"), s.hidden) +
         rms_norm(after ? "post_feedforward_layernorm" : "post_attention_layernorm", k("RMSNorm"),
                  s.hidden);
}

/// Source: vLLM 0.33 molmo.py. intermediate_size counts gate and up together.
Part molmo(const Config& c) {
  const Common s = common_of(c);
  const Size inner = c.dim({"intermediate_size"}) / 2;
  const Size vocabulary = c.dim({"embedding_size", "vocab_size"});
  Part transformer =
      in("wte", k("Embedding"),
         tensor("embedding", {vocabulary, s.hidden}, Role::embedding) +
             tensor("new_embedding", {additional_vocabulary, s.hidden}, Role::embedding)) +
      stack("blocks", k("DecoderLayer"), s.layers, [&] { return decoder_layer_of(c, s, inner); }) +
      rms_norm("ln_f", k("RMSNorm"), s.hidden) + rotary(k("RotaryEmbedding"), s.heads.dim);
  Part body = in("model", k("Model"),
                 in("transformer", k("Transformer"), std::move(transformer)) +
                     in("vision_backbone", k("VisionBackbone"), vision_backbone(inner, s.hidden)));
  body = std::move(body) + output_head("lm_head", s.hidden, vocabulary);
  if (c.flag({"weight_tying"}, false))
    body = tied(std::move(body), "lm_head.weight", "model.transformer.wte.embedding");
  return with_unsplittable(std::move(body), {k("DecoderLayer"), k("ResidualAttentionBlock")});
}

}  // namespace headroom::model::families::molmo
