// Late interaction of texts (ColBERT, arXiv:2004.12832): an encoder without its head, and a
// projection of each token's vector. Models that were trained with sentence-transformers store the
// projection in a folder of its own (1_Dense).
#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/families.hpp"

namespace headroom::model::families::colbert {

/// `encoder` and the projection, which has no bias. 128 is ColBERT's own default width
/// (github.com/stanford-futuredata/ColBERT, infra/config/settings.py, `dim`).
/// Source: vLLM 0.33 colbert.py, get_colbert_dim_from_config.
Part projected(const Config& c, Part encoder, Size hidden) {
  return std::move(encoder) +
         linear("linear", hidden, c.dim({"colbert_dim", "dim", "projection_dim"}, 128));
}

/// XLM-RoBERTa in Jina's own code: rotary positions, and one matrix to queries, keys and values.
/// Source: vLLM 0.33 bert_with_rope.py, JinaRobertaModel, and its table of names.
Part jina_roberta(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string kind = c.text({"position_embedding_type"}, "rotary");
  if (kind != "rotary") c.fail("position_embedding_type", "found '" + kind + "', expected rotary");
  Part words = embedding("word_embeddings", s.vocab, s.hidden);
  if (s.types > 0) words = std::move(words) + embedding("token_type_embeddings", s.types, s.hidden);
  const auto layer = [&] {
    return in("mixer", "MHA",
              linear("Wqkv", s.hidden, 3 * s.hidden, Bias::yes) +
                  linear("out_proj", s.hidden, s.hidden, Bias::yes)) +
           layer_norm("norm1", s.hidden) +
           in("mlp", "Mlp",
              linear("fc1", s.hidden, s.inner, Bias::yes) + module("activation", s.act) +
                  linear("fc2", s.inner, s.hidden, Bias::yes)) +
           layer_norm("norm2", s.hidden);
  };
  return in("embeddings", "XLMRobertaEmbeddings", std::move(words)) +
         layer_norm("emb_ln", s.hidden) +
         in("encoder", "XLMRobertaEncoder",
            with_quirks(stack("layers", "Block", s.layers, layer), {.norms_the_sum = true})) +
         bert_pooler("XLMRoberta", s.hidden);
}
Part jina(const Config& c) {
  return projected(c, unsplittable(in("roberta", "XLMRobertaModel", jina_roberta(c)), {"Block"}),
                   c.dim({"hidden_size"}));
}

/// Files of ColBERT's own code name this class whatever the encoder.
Part colbert(const Config& c) {
  if (c.text({"model_type"}, "bert") == "xlm-roberta") return jina(c);
  const BertSizes s = bert_sizes(c);
  return projected(c,
                   unsplittable(in("bert", "BertModel", bert_model(c, "Bert", s, Pooler::yes)),
                                {"BertEmbeddings", "BertLayer"}),
                   s.hidden);
}
Part modern(const Config& given) {
  const Config c = with_optional_class_defaults(given, "modernbert").as_class("ModernBertModel");
  return projected(c, modernbert::modernbert(c), c.dim({"hidden_size"}));
}
Part lfm2(const Config& given) {
  const Submodel body = text_model(with_optional_class_defaults(given, "lfm2"), "lfm2");
  return projected(given, body.part, body.width);
}

/// BGE-M3 (arXiv:2402.03216): XLM-RoBERTa with a weight of each token and a vector of each token,
/// both from files of their own. Source: vLLM 0.33 roberta.py, BgeM3EmbeddingModel.
Part bge_m3(const Config& given) {
  const Config c = with_optional_class_defaults(given, "xlm-roberta").as_class("XLMRobertaModel");
  const Size hidden = c.dim({"hidden_size"});
  return bert::roberta(c) + linear("sparse_linear", hidden, 1, Bias::yes) +
         linear("colbert_linear", hidden, hidden, Bias::yes);
}

/// SPLADE (arXiv:2107.05720): the language model's head weighs each word of the vocabulary.
Part splade(const Config& c) { return bert::bert(c.as_class("BertForMaskedLM")); }

/// BERT without its pooler. Source: SGLang 0.5.23 bert.py.
Part contriever(const Config& c) {
  return unsplittable(bert_model(c, "Bert", bert_sizes(c), Pooler::no),
                      {"BertEmbeddings", "BertLayer"});
}

}  // namespace headroom::model::families::colbert
