// BLIP (arXiv:2201.12086), BLIP-2 (arXiv:2301.12597) and InstructBLIP (arXiv:2305.06500). The text
// model attends to the output of a vision transformer, or of a query transformer behind it.
#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/tower_layers.hpp"
#include "model/describe/architectures/vision_towers.hpp"

namespace headroom::model::families {

namespace {

/// Attention whose queries, keys and values come from one projection.
Part vision_model(const Config& v, const std::string& name) {
  const TowerSizes s = tower_sizes(v, "gelu");
  const bool first = name == "Blip";
  const Bias qkv = first ? Bias::yes : v.bias({"qkv_bias"}, true);
  const Part layers = stack("layers", name + "EncoderLayer", s.layers, [&] {
    return in("self_attn", name + "Attention",
              (first ? dropout() : Part{}) + linear("qkv", s.hidden, 3 * s.hidden, qkv) +
                  linear("projection", s.hidden, s.hidden, Bias::yes)) +
           layer_norm("layer_norm1", s.hidden) + tower_mlp("mlp", name + "MLP", s) +
           layer_norm("layer_norm2", s.hidden);
  });
  return in(
      "vision_model", name + "VisionModel",
      in("embeddings", name + "VisionEmbeddings",
         tensor("class_embedding", {1, 1, s.hidden}, Role::other) +
             tensor("position_embedding", {1, patches(v) + 1, s.hidden}, Role::embedding) +
             convolution("patch_embedding", "Conv2d", {s.hidden, 3, s.patch, s.patch}, Bias::yes)) +
          in("encoder", name + "Encoder", layers) + layer_norm("post_layernorm", s.hidden));
}

/// Query, key and value. Keys and values are projected from `source` dimensions.
Part projections(Size hidden, Size source) {
  return linear("query", hidden, hidden, Bias::yes) + linear("key", source, hidden, Bias::yes) +
         linear("value", source, hidden, Bias::yes);
}

/// BERT's decoder with cross-attention to the image.
Part text_decoder(const Config& c, Size seen) {
  const BertSizes s = bert_sizes(c);
  const auto attention = [&](std::string_view name, Size source, CacheKind kind) {
    Part self = projections(s.hidden, source) + dropout();
    self.caches = {kv_cache({s.heads, s.heads, s.hidden / s.heads})};
    self.caches[0].kind = kind;
    return in(name, "BlipTextAttention",
              in("self", "BlipTextSelfAttention", std::move(self)) +
                  bert_output("output", "BlipTextSelfOutput", s.hidden, s.hidden));
  };
  const Part layers = stack("layer", "BlipTextLayer", s.layers, [&] {
    Part p = attention("attention", s.hidden, CacheKind::self_attention);
    if (c.flag({"is_decoder"}, true))
      p = std::move(p) + attention("crossattention", seen, CacheKind::cross_attention);
    return std::move(p) + bert_intermediate("BlipText", s) +
           bert_output("output", "BlipTextOutput", s.inner, s.hidden);
  });
  return in("bert", "BlipTextModel",
            in("embeddings", "BlipTextEmbeddings",
               embedding("word_embeddings", s.vocab, s.hidden) +
                   embedding("position_embeddings", s.positions, s.hidden) +
                   layer_norm("LayerNorm", s.hidden) + dropout() + position_ids(s.positions)) +
                in("encoder", "BlipTextEncoder", layers)) +
         bert_masked_head("BlipText", s);
}

}  // namespace

Part qformer(const Config& q, const std::string& name, Size seen) {
  const std::string f = name + "QFormer";
  const BertSizes s = bert_sizes(q);
  const auto attention = [&](std::string_view scope, Size source) {
    return in(scope, f + "Attention",
              in("attention", f + "MultiHeadAttention", projections(s.hidden, source)) +
                  bert_output("output", f + "SelfOutput", s.hidden, s.hidden));
  };
  const auto feed_forward = [&](std::string_view suffix) {
    return in(join("intermediate", suffix), f + "Intermediate",
              linear("dense", s.hidden, s.inner, Bias::yes) +
                  module("intermediate_act_fn", s.act)) +
           bert_output(join("output", suffix), f + "Output", s.inner, s.hidden);
  };
  const bool reads = name != "Blip2" || q.flag({"use_qformer_text_input"}, false);
  const Size every = q.dim({"cross_attention_frequency"}, 2);
  const Part layers = stack("layer", f + "Layer", s.layers, [&](Size i) {
    Part p = attention("attention", s.hidden);
    if (i % every == 0) p = std::move(p) + attention("crossattention", seen);
    if (reads) p = std::move(p) + feed_forward("");
    return std::move(p) + feed_forward("_query");
  });
  const Part outer =
      name == "Blip2"
          ? layer_norm("layernorm", s.hidden) + dropout()
          : in("embeddings", f + "Embeddings",
               embedding("word_embeddings", s.vocab, s.hidden) +
                   embedding("position_embeddings", s.positions, s.hidden) +
                   layer_norm("layernorm", s.hidden) + dropout() + position_ids(s.positions));
  return in("qformer", f + "Model", outer + in("encoder", f + "Encoder", layers));
}

namespace blip {

/// Source: transformers 5.23, models/blip/modeling_blip.py, modeling_blip_text.py.
Part blip(const Config& c) {
  const Config v = section_of(c, "vision_config", "blip_vision_model");
  const Config text = section_of(c, "text_config", "blip_text_model");
  BertSizes s = bert_sizes(text);
  s.tied = head_is_tied(c, text, true, Inherit::yes);
  Part p = vision_model(v, "Blip") +
           in("text_decoder", "BlipTextLMHeadModel", text_decoder(text, v.dim({"hidden_size"})));
  p = with_tied_decoder(std::move(p), "text_decoder.cls.predictions.decoder",
                        "text_decoder.cls.predictions.bias",
                        "text_decoder.bert.embeddings.word_embeddings.weight", s);
  return unsplittable(std::move(p), {"BlipEncoderLayer", "BlipTextEmbeddings"});
}

}  // namespace blip

namespace blip {

/// Source: transformers 5.23, models/blip_2, models/instructblip, models/instructblipvideo.
Part blip2(const Config& c) {
  const std::string_view suffix = "ForConditionalGeneration";
  const std::string name = c.class_name().substr(0, c.class_name().size() - suffix.size());
  const std::string type = name == "Blip2"          ? "blip_2"
                           : name == "InstructBlip" ? "instructblip"
                                                    : "instructblipvideo";
  const Config v = section_of(c, "vision_config", type + "_vision_model");
  const Config q = section_of(c, "qformer_config", type + "_qformer");
  const Config text = section_of(c, "text_config", "opt");
  const Size width = q.dim({"hidden_size"});
  Part p = tensor("query_tokens", {1, c.dim({"num_query_tokens"}, 32), width}, Role::other) +
           vision_model(v, name) + qformer(q, name, v.dim({"hidden_size"})) +
           linear("language_projection", width, width_of(text), Bias::yes) +
           whole_model(text, "language_model");
  if (name == "Blip2")
    return with_unsplittable(
        std::move(p), {"Blip2Attention", "Blip2QFormerMultiHeadAttention", "Blip2EncoderLayer",
                       "Blip2VisionEmbeddings", "Blip2TextEmbeddings"});
  return with_unsplittable(std::move(p), {name + "QFormerEmbeddings", name + "Attention",
                                          name + "EncoderLayer", name + "QFormerMultiHeadAttention",
                                          name + "QFormerSelfOutput", name + "QFormerLayer"});
}

}  // namespace blip

}  // namespace headroom::model::families
