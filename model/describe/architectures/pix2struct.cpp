// Pix2Struct (arXiv:2210.03347): an encoder of image patches with row and column embeddings, and a
// T5-like decoder.
#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::pix2struct {

Part projections(Size hidden, Size inner) {
  return linear("query", hidden, inner) + linear("key", hidden, inner) +
         linear("value", hidden, inner) + linear("output", inner, hidden);
}
Part gated(Size hidden, Size inner, const std::string& act) {
  return linear("wi_0", hidden, inner) + linear("wi_1", hidden, inner) +
         linear("wo", inner, hidden) + dropout() + module("act", act);
}
Part norm(std::string_view name, Size dim) { return rms_norm(name, "Pix2StructLayerNorm", dim); }

/// Source: transformers 5.23, models/pix2struct/modeling_pix2struct.py.
Part pix2struct(const Config& c) {
  const Config text = section_of(c, "text_config", "pix2struct_text_model");
  const Config v = section_of(c, "vision_config", "pix2struct_vision_model");
  const Size width = v.dim({"hidden_size"}), rows = v.dim({"seq_len"}, 4096);
  const Size inner = v.dim({"num_attention_heads"}) * v.dim({"d_kv"});
  const Part encoder =
      in("embeddings", "Pix2StructVisionEmbeddings",
         linear("patch_projection", v.dim({"patch_embed_hidden_size"}), width, Bias::yes) +
             embedding("row_embedder", rows, width) + embedding("column_embedder", rows, width) +
             dropout()) +
      in("encoder", "Pix2StructVisionEncoder",
         stack("layer", "Pix2StructVisionLayer", v.dim({"num_hidden_layers"}),
               [&] {
                 return in("attention", "Pix2StructVisionAttention", projections(width, inner)) +
                        in("mlp", "Pix2StructVisionMlp",
                           gated(width, v.dim({"d_ff"}),
                                 activation_class(v, {"dense_act_fn"}, "gelu_new"))) +
                        norm("pre_mlp_layer_norm", width) + norm("pre_attention_layer_norm", width);
               })) +
      norm("layernorm", width);
  const Size hidden = text.dim({"hidden_size"}), heads = text.dim({"num_heads"});
  const Size vocab = text.dim({"vocab_size"});
  const auto attention = [&](std::string_view name, std::string_view kind, CacheKind cache,
                             Part bias) {
    Part p = projections(hidden, hidden) + std::move(bias);
    p.caches = {kv_cache({heads, heads, hidden / heads})};
    p.caches[0].kind = cache;
    return in(name, join("Pix2StructTextLayer", kind),
              in("attention", "Pix2StructTextAttention", std::move(p)) +
                  norm("layer_norm", hidden) + dropout());
  };
  const Part layers = stack("layer", "Pix2StructTextBlock", text.dim({"num_layers"}), [&](Size i) {
    return attention("self_attention", "SelfAttention", CacheKind::self_attention,
                     i == 0 ? embedding("relative_attention_bias",
                                        text.dim({"relative_attention_num_buckets"}, 32), heads)
                            : Part{}) +
           attention("encoder_decoder_attention", "CrossAttention", CacheKind::cross_attention,
                     {}) +
           in("mlp", "Pix2StructTextLayerFF",
              in("DenseReluDense", "Pix2StructTextDenseGatedActDense",
                 gated(hidden, text.dim({"d_ff"}),
                       activation_class(text, {"dense_act_fn"}, "gelu_new"))) +
                  norm("layer_norm", hidden) + dropout());
  });
  Part p = unsplittable(
      in("encoder", "Pix2StructVisionModel", encoder) +
          in("decoder", "Pix2StructTextModel",
             embedding("embed_tokens", vocab, hidden) + layers + norm("final_layer_norm", hidden) +
                 dropout() + output_head("lm_head", hidden, vocab)),
      {"Pix2StructTextBlock", "Pix2StructVisionLayer"});
  if (!c.flag({"tie_word_embeddings"}, false)) return p;
  return tied(std::move(p), "decoder.lm_head.weight", "decoder.embed_tokens.weight");
}

}  // namespace headroom::model::families::pix2struct
