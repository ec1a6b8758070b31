// KOSMOS-2 (arXiv:2306.14824): a decoder with inner norms that reads 64 latents of CLIP's tower.
#include "model/architectures/composition.hpp"
#include "model/architectures/tower_layers.hpp"
#include "model/architectures/vision_language_families.hpp"

namespace headroom::model::families {

namespace {

Part attention(std::string_view name, Size hidden, Part inner_norm = {}) {
  return in(name, "KosmosTextAttention",
            linear("k_proj", hidden, hidden, Bias::yes) +
                linear("v_proj", hidden, hidden, Bias::yes) +
                linear("q_proj", hidden, hidden, Bias::yes) +
                linear("out_proj", hidden, hidden, Bias::yes) + std::move(inner_norm));
}

}  // namespace

/// Source: transformers 5.23, models/kosmos2/modeling_kosmos2.py.
Part kosmos2(const Config& c) {
  const Config text = section_of(c, "text_config", "kosmos_2_text_model");
  const Config v = section_of(c, "vision_config", "kosmos_2_vision_model");
  const Size hidden = text.dim({"embed_dim"}), inner = text.dim({"ffn_dim"});
  const Size vocab = text.dim({"vocab_size"}), heads = text.dim({"attention_heads"});
  const std::string act = activation_class(text, {"activation_function"}, "gelu");
  Cache kept = kv_cache({heads, heads, hidden / heads});
  const Part layers = stack("layers", "Kosmos2TextBlock", text.dim({"layers"}), [&](Size) {
    Part p = attention("self_attn", hidden, layer_norm("inner_attn_ln", hidden));
    kept.path = "self_attn";
    kept.kind = CacheKind::self_attention;
    p.caches = {kept};
    p = std::move(p) + layer_norm("self_attn_layer_norm", hidden);
    if (text.flag({"add_cross_attention"}, false)) {
      Part cross = attention("encoder_attn", hidden);
      kept.path = "encoder_attn";
      kept.kind = CacheKind::cross_attention;
      cross.caches = {kept};
      p = std::move(p) + std::move(cross) + layer_norm("encoder_attn_layer_norm", hidden);
    }
    return std::move(p) +
           in("ffn", "Kosmos2TextFFN",
              module("activation_fn", act) + linear("fc1", hidden, inner, Bias::yes) +
                  linear("fc2", inner, hidden, Bias::yes) + layer_norm("ffn_layernorm", inner)) +
           layer_norm("final_layer_norm", hidden);
  });
  Part p = in("text_model", "Kosmos2TextForCausalLM",
              in("model", "Kosmos2TextTransformer",
                 embedding("embed_tokens", vocab, hidden) +
                     in("embed_positions", "Kosmos2TextSinusoidalPositionalEmbedding",
                        buffer("weights", {text.dim({"max_position_embeddings"}) + 2, hidden})) +
                     layers + layer_norm("layer_norm", hidden)) +
                  output_head("lm_head", hidden, vocab)) +
           in("vision_model", "Kosmos2VisionModel",
              in("model", "Kosmos2VisionTransformer",
                 clip_vision_body(v, "Kosmos2VisionEmbeddings", "Kosmos2Vision"))) +
           in("image_to_text_projection", "Kosmos2ImageToTextProjection",
              tensor("latent_query", {c.dim({"latent_query_num"}, 64), hidden}, Role::other) +
                  linear("dense", v.dim({"hidden_size"}), hidden, Bias::yes) +
                  attention("x_attn", hidden));
  p = unsplittable(std::move(p), {"Kosmos2VisionEncoderLayer", "Kosmos2TextBlock"});
  if (!head_is_tied(c, text, true, Inherit::no)) return p;
  return tied(std::move(p), "text_model.lm_head.weight", "text_model.model.embed_tokens.weight");
}

}  // namespace headroom::model::families
