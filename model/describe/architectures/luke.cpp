// LUKE (arXiv:2010.01057): RoBERTa with a table of entities, and queries between words and
// entities.
#include "model/describe/architectures/bert_layer.hpp"

namespace headroom::model::families::luke {

/// Source: transformers 5.23, models/luke/modeling_luke.py. The word head ties only its bias.
Part luke(const Config& c) {
  const std::string f = "Luke";
  const BertSizes s = bert_sizes(c);
  const Size entities = c.dim({"entity_vocab_size"}, 500000);
  const Size width = c.dim({"entity_emb_size"}, 256);
  Part self = linear("query", s.hidden, s.hidden, Bias::yes) +
              linear("key", s.hidden, s.hidden, Bias::yes) +
              linear("value", s.hidden, s.hidden, Bias::yes);
  if (c.flag({"use_entity_aware_attention"}, true))
    for (const auto name : {"w2e_query", "e2w_query", "e2e_query"})
      self = std::move(self) + linear(name, s.hidden, s.hidden, Bias::yes);
  self = std::move(self) + dropout();
  const auto shared = [&] {
    return embedding("position_embeddings", s.positions, s.hidden) +
           embedding("token_type_embeddings", s.types, s.hidden) +
           layer_norm("LayerNorm", s.hidden) + dropout();
  };
  Part table = embedding("entity_embeddings", entities, width);
  if (width != s.hidden)
    table = std::move(table) + linear("entity_embedding_dense", width, s.hidden);
  Part body =
      in("embeddings", f + "Embeddings",
         embedding("word_embeddings", s.vocab, s.hidden) + shared()) +
      in("entity_embeddings", f + "EntityEmbeddings", std::move(table) + shared()) +
      in("encoder", f + "Encoder",
         stack("layer", f + "Layer", s.layers,
               [&] {
                 return in("attention", f + "Attention",
                           in("self", f + "SelfAttention", self) +
                               bert_output("output", f + "SelfOutput", s.hidden, s.hidden)) +
                        bert_intermediate(f, s) +
                        bert_output("output", f + "Output", s.inner, s.hidden);
               })) +
      bert_pooler(f, s.hidden);
  const auto whole = [&](Part part) {
    return unsplittable(std::move(part), {f + "Attention", f + "EntityEmbeddings"});
  };
  if (is_for(c, f + "Model")) return whole(std::move(body));
  body = whole(in("luke", f + "Model", std::move(body)) + roberta_lm_head(f + "LMHead", s) +
               in("entity_predictions", "EntityPredictionHead",
                  tensor("bias", {entities}, Role::bias) +
                      in("transform", "EntityPredictionHeadTransform",
                         linear("dense", s.hidden, width, Bias::yes) +
                             module("transform_act_fn", s.act) + layer_norm("LayerNorm", width)) +
                      output_head("decoder", width, entities)) +
               module("loss_fn", "CrossEntropyLoss"));
  if (!s.tied) return body;
  body = tied(std::move(body), "lm_head.decoder.bias", "lm_head.bias");
  return tied(std::move(body), "entity_predictions.decoder.weight",
              "luke.entity_embeddings.entity_embeddings.weight");
}

}  // namespace headroom::model::families::luke
