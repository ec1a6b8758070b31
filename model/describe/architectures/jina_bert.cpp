// Jina's BERT (arXiv:2310.19923): linear biases by distance instead of positions, and a gated
// feed-forward.
#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::jina_bert {

/// Source: modeling_bert.py of jinaai/jina-bert-implementation, whose names llama.cpp
/// gguf-py/gguf/tensor_mapping.py lists (jina-bert-v2).
Part jina_bert(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string positions = c.text({"position_embedding_type"}, "alibi");
  if (positions != "alibi")
    c.fail("position_embedding_type", "found '" + positions + "', expected alibi");
  const std::string kind = c.text({"feed_forward_type"}, "geglu");
  if (kind != "geglu" && kind != "reglu")
    c.fail("feed_forward_type", "found '" + kind + "', expected geglu or reglu");
  const auto layer = [&] {
    return bert_attention("attention", "JinaBert", s) +
           in("mlp", "JinaBertGLUMLP",
              linear("gated_layers", s.hidden, 2 * s.inner) +
                  module("act", kind == "geglu" ? "GELUActivation" : "ReLU") +
                  linear("wo", s.inner, s.hidden, Bias::yes) + dropout() +
                  layer_norm("layernorm", s.hidden));
  };
  Part body = in("embeddings", "JinaBertEmbeddings",
                 embedding("word_embeddings", s.vocab, s.hidden) +
                     embedding("token_type_embeddings", s.types, s.hidden) +
                     layer_norm("LayerNorm", s.hidden) + dropout()) +
              in("encoder", "JinaBertEncoder",
                 with_quirks(stack("layer", "JinaBertLayer", s.layers, layer), post_norm_encoder));
  if (is_for(c, "JinaBertModel")) return std::move(body) + bert_pooler("JinaBert", s.hidden);
  return with_tied_decoder(in("bert", "JinaBertModel", std::move(body)) +
                               in("cls", "JinaBertOnlyMLMHead", bert_predictions("JinaBert", s)),
                           "cls.predictions.decoder", "cls.predictions.bias",
                           "bert.embeddings.word_embeddings.weight", s);
}

}  // namespace headroom::model::families::jina_bert
