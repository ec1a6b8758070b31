// ESM-1b and ESM-2 (Rives et al. 2021, Lin et al. 2023): BERT for proteins, with norms before each
// block. A head predicts contacts from all attention maps.
#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::esm {

Part attention(const std::string& f, const BertSizes& s, std::string_view name, CacheKind cache) {
  Part self = linear("query", s.hidden, s.hidden, Bias::yes) +
              linear("key", s.hidden, s.hidden, Bias::yes) +
              linear("value", s.hidden, s.hidden, Bias::yes);
  if (s.decoder) {
    self.caches = {kv_cache({s.heads, s.heads, s.hidden / s.heads})};
    self.caches[0].kind = cache;
  }
  return in(name, f + "Attention",
            in("self", f + "SelfAttention", std::move(self)) +
                in("output", f + "SelfOutput",
                   linear("dense", s.hidden, s.hidden, Bias::yes) + dropout()) +
                layer_norm("LayerNorm", s.hidden));
}

Part esm_layer(const std::string& f, const BertSizes& s) {
  Part p = attention(f, s, "attention", CacheKind::self_attention);
  if (s.cross) p = std::move(p) + attention(f, s, "crossattention", CacheKind::cross_attention);
  return std::move(p) +
         in("intermediate", f + "Intermediate", linear("dense", s.hidden, s.inner, Bias::yes)) +
         in("output", f + "Output", linear("dense", s.inner, s.hidden, Bias::yes) + dropout()) +
         layer_norm("LayerNorm", s.hidden);
}

/// Source: transformers 5.23, models/esm/modeling_esm.py.
Part esm(const Config& c) {
  const std::string f = "Esm";
  const BertSizes s = bert_sizes(c);
  const std::string kind = word_of(c, {"position_embedding_type"}, "absolute",
                                   {"absolute", "rotary", "relative_key", "relative_key_query"});
  if (c.flag({"is_folding_model"}, false))
    c.fail("is_folding_model", "found true; only the language model is described");
  Part embeddings = embedding("word_embeddings", s.vocab, s.hidden);
  if (c.flag({"emb_layer_norm_before"}, false))
    embeddings = std::move(embeddings) + layer_norm("layer_norm", s.hidden);
  embeddings = std::move(embeddings) + dropout();
  if (kind == "absolute")
    embeddings = std::move(embeddings) + embedding("position_embeddings", s.positions, s.hidden);
  Part body = in("embeddings", f + "Embeddings", std::move(embeddings) + position_ids(s.positions));
  if (kind == "rotary")
    body =
        std::move(body) + in("rotary_embeddings", f + "RotaryEmbedding",
                             buffer("inv_freq", {s.hidden / s.heads / 2}, Element::floating, true));
  const bool bare = is_for(c, f + "Model");
  body =
      std::move(body) +
      in("encoder", f + "Encoder",
         stack("layer", f + "Layer", s.layers, [&] { return esm_layer(f, s); }) +
             layer_norm("emb_layer_norm_after", s.hidden)) +
      (bare ? bert_pooler(f, s.hidden) : Part{}) +
      in("contact_head", f + "ContactPredictionHead",
         linear("regression", s.layers * s.heads, 1, Bias::yes) + module("activation", "Sigmoid"));
  const auto whole = [&](Part part) {
    return unsplittable(std::move(part),
                        {f + "Layer", f + "FoldTriangularSelfAttentionBlock", f + "Embeddings"});
  };
  if (bare) return whole(std::move(body));
  body = in("esm", f + "Model", std::move(body));
  if (is_for(c, "ForSequenceClassification"))
    return whole(std::move(body) +
                 classification_head(f + "ClassificationHead", s.hidden, labels(c)));
  if (!is_for(c, "ForMaskedLM")) return whole(std::move(body) + task_head(c, s.hidden));
  body = whole(
      std::move(body) +
      in("lm_head", f + "LMHead",
         tensor("bias", {s.vocab}, Role::bias) + linear("dense", s.hidden, s.hidden, Bias::yes) +
             layer_norm("layer_norm", s.hidden) + output_head("decoder", s.hidden, s.vocab)));
  if (!s.tied) return body;
  return tied(std::move(body), "lm_head.decoder.weight", "esm.embeddings.word_embeddings.weight");
}

}  // namespace headroom::model::families::esm
