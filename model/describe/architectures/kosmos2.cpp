// KOSMOS-2 (arXiv:2306.14824) is a decoder with inner norms. It reads 64 latents of CLIP's tower.
// KOSMOS-2.5 (arXiv:2309.11419) has Pix2Struct's tower.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"

namespace headroom::model::families::kosmos2 {

Part attention(std::string_view name, Size hidden, Part inner_norm = {},
               std::string_view class_name = "KosmosTextAttention") {
  return in(name, class_name,
            linear("k_proj", hidden, hidden, Bias::yes) +
                linear("v_proj", hidden, hidden, Bias::yes) +
                linear("q_proj", hidden, hidden, Bias::yes) +
                linear("out_proj", hidden, hidden, Bias::yes) + std::move(inner_norm));
}

/// Source: transformers 5.23, models/kosmos2/modeling_kosmos2.py.
Part kosmos2(const Config& c) {
  const Config text = section_of(c, "text_config", "kosmos_2_text_model");
  const Config v = section_of(c, "vision_config", "kosmos_2_vision_model");
  const Size hidden = text.dim({"embed_dim"}), inner = text.dim({"ffn_dim"});
  const Size vocab = text.dim({"vocab_size"}), heads = text.dim({"attention_heads"});
  const std::string act = activation_class(text, {"activation_function"}, "gelu");
  Cache kept = kv_cache({heads, heads, hidden / heads});
  const Part layers = stack("layers", "Kosmos2TextBlock", text.dim({"layers"}), [&] {
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
  if (!head_is_tied(c, text, true, Inherit::yes)) return p;
  return tied(std::move(p), "text_model.lm_head.weight", "text_model.model.embed_tokens.weight");
}

/// Source: transformers 5.23, models/kosmos2_5/modeling_kosmos2_5.py.
Part kosmos2_5(const Config& c) {
  const std::string k = "Kosmos2_5";
  const Config text = section_of(c, "text_config", "kosmos_2_5_text_model");
  const Config v = section_of(c, "vision_config", "kosmos_2_5_vision_model");
  const Size hidden = text.dim({"embed_dim"}), inner = text.dim({"ffn_dim"});
  const Size vocab = text.dim({"vocab_size"}), heads = text.dim({"attention_heads"});
  const std::string act = activation_class(text, {"activation_function"}, "gelu");
  const Part layers = stack("layers", k + "TextBlock", text.dim({"layers"}), [&] {
    Part self = attention("self_attn", hidden, {}, k + "TextAttention");
    self.caches = {kv_cache({heads, heads, hidden / heads})};
    self.caches[0].path = "self_attn";
    return std::move(self) + layer_norm("self_attn_layer_norm", hidden) +
           in("ffn", k + "TextFFN",
              module("activation_fn", act) + linear("fc1", hidden, inner, Bias::yes) +
                  linear("fc2", inner, hidden, Bias::yes) + layer_norm("ffn_layernorm", inner)) +
           layer_norm("final_layer_norm", hidden);
  });
  const Size width = v.dim({"hidden_size"}), wide = v.dim({"intermediate_size"});
  const Size queries = v.dim({"num_attention_heads"}) * v.dim({"head_dim"}, 64);
  const auto norm = [&](std::string_view name) { return rms_norm(name, k + "LayerNorm", width); };
  const Part seeing =
      in("attention", k + "VisionAttention",
         linear("query", width, queries) + linear("key", width, queries) +
             linear("value", width, queries) + linear("output", queries, width)) +
      in("mlp", k + "VisionMlp",
         linear("wi_0", width, wide) + linear("wi_1", width, wide) + linear("wo", wide, width) +
             dropout() + module("act", activation_class(v, {"dense_act_fn"}, "gelu_new"))) +
      norm("pre_mlp_layer_norm") + norm("pre_attention_layer_norm");
  const Size patches = v.dim({"max_num_patches"}, 4096);
  Part p =
      in("text_model", k + "TextForCausalLM",
         in("model", k + "TextTransformer",
            embedding("embed_tokens", vocab, hidden) +
                in("embed_positions", k + "TextSinusoidalPositionalEmbedding",
                   buffer("weights", {text.dim({"max_position_embeddings"}) + 2, hidden})) +
                embedding("segment_emb", 2, hidden) + layers + layer_norm("layer_norm", hidden)) +
             output_head("lm_head", hidden, vocab)) +
      in("vision_model", k + "VisionModel",
         in("embeddings", k + "VisionEmbeddings",
            linear("patch_projection", v.dim({"patch_embed_hidden_size"}, 768), width, Bias::yes) +
                embedding("row_embedder", patches, width) +
                embedding("column_embedder", patches, width) + dropout()) +
             in("encoder", k + "VisionEncoder",
                stack("layer", k + "VisionLayer", v.dim({"num_hidden_layers"}),
                      [&] { return seeing; })) +
             norm("layernorm")) +
      in("image_to_text_projection", k + "ImageToTextProjection",
         tensor("latent_query", {c.dim({"latent_query_num"}, 2048), hidden}, Role::other) +
             linear("dense", width, hidden, Bias::yes) +
             attention("x_attn", hidden, {}, k + "TextAttention"));
  p = unsplittable(std::move(p), {k + "VisionLayer", k + "TextBlock"});
  if (!text.flag({"tie_word_embeddings"}, true)) return p;
  return tied(std::move(p), "text_model.lm_head.weight", "text_model.model.embed_tokens.weight");
}

}  // namespace headroom::model::families::kosmos2
