// RoFormer (arXiv:2104.09864) and RemBERT (arXiv:2010.12821): BERT's layer after narrower
// embeddings. RoFormer has rotary positions, RemBERT has a wide output embedding.
#include "model/describe/architectures/bert_layer.hpp"

namespace headroom::model::families::roformer {

/// Source: transformers 5.23, models/roformer/modeling_roformer.py.
Part roformer(const Config& c) {
  BertSizes s = bert_sizes(c);
  const std::string f = "RoFormer", base = "roformer";
  const Size width = c.has("embedding_size") ? c.dim({"embedding_size"}) : s.hidden;
  Part body = in("embeddings", f + "Embeddings",
                 embedding("word_embeddings", s.vocab, width) +
                     embedding("token_type_embeddings", s.types, width) +
                     layer_norm("LayerNorm", width) + dropout());
  if (width != s.hidden)
    body = std::move(body) + linear("embeddings_project", width, s.hidden, Bias::yes);
  body = std::move(body) +
         in("encoder", f + "Encoder",
            embedding("embed_positions", s.positions, s.hidden / s.heads,
                      f + "SinusoidalPositionalEmbedding") +
                stack("layer", f + "Layer", s.layers, [&] { return bert_layer(f, s); }));
  if (is_for(c, f + "Model")) return body;
  body = in(base, f + "Model", std::move(body));
  if (is_language_model(c))
    return with_tied_decoder(
        std::move(body) +
            in("cls", f + "OnlyMLMHead",
               in("predictions", f + "LMPredictionHead",
                  tensor("bias", {s.vocab}, Role::bias) +
                      in("transform", f + "PredictionHeadTransform",
                         linear("dense", s.hidden, width, Bias::yes) +
                             module("transform_act_fn", s.act) + layer_norm("LayerNorm", width)) +
                      output_head("decoder", width, s.vocab, Bias::yes))),
        "cls.predictions.decoder", "cls.predictions.bias",
        base + ".embeddings.word_embeddings.weight", s);
  if (is_for(c, "ForSequenceClassification"))
    return std::move(body) + classification_head(f + "ClassificationHead", s.hidden, labels(c));
  if (is_for(c, "ForQuestionAnswering"))
    return std::move(body) + linear("qa_outputs", s.hidden, 2, Bias::yes);
  return std::move(body) + task_head(c, s.hidden);
}

/// Source: transformers 5.23, models/rembert/modeling_rembert.py. Nothing is tied.
Part rembert(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string f = "RemBert", base = "rembert";
  const Size width = c.dim({"input_embedding_size"}, 256);
  const Size wide = c.dim({"output_embedding_size"}, 1664);
  Part body = in("embeddings", f + "Embeddings",
                 embedding("word_embeddings", s.vocab, width) +
                     embedding("position_embeddings", s.positions, width) +
                     embedding("token_type_embeddings", s.types, width) +
                     layer_norm("LayerNorm", width) + dropout() + position_ids(s.positions)) +
              in("encoder", f + "Encoder",
                 linear("embedding_hidden_mapping_in", width, s.hidden, Bias::yes) +
                     stack("layer", f + "Layer", s.layers, [&] { return bert_layer(f, s); }));
  if (is_for(c, f + "Model")) return std::move(body) + bert_pooler(f, s.hidden);
  if (is_language_model(c))
    return in(base, f + "Model", std::move(body)) +
           in("cls", f + "OnlyMLMHead",
              in("predictions", f + "LMPredictionHead",
                 linear("dense", s.hidden, wide, Bias::yes) +
                     output_head("decoder", wide, s.vocab, Bias::yes) +
                     module("activation", s.act) + layer_norm("LayerNorm", wide)));
  if (is_for(c, "ForSequenceClassification") || is_for(c, "ForMultipleChoice"))
    body = std::move(body) + bert_pooler(f, s.hidden);
  return in(base, f + "Model", std::move(body)) + task_head(c, s.hidden);
}

}  // namespace headroom::model::families::roformer
