// BERT as a decoder without token types.
#include "model/describe/architectures/bert_layer.hpp"

namespace headroom::model::families::bert_generation {

/// Source: transformers 5.23, models/bert_generation.
Part bert_generation(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string f = "BertGeneration";
  Part encoder = stack("layer", f + "Layer", s.layers, [&] { return bert_layer(f, s); });
  Part p = in("embeddings", f + "Embeddings",
              embedding("word_embeddings", s.vocab, s.hidden) +
                  embedding("position_embeddings", s.positions, s.hidden) +
                  layer_norm("LayerNorm", s.hidden) + dropout() + position_ids(s.positions)) +
           in("encoder", "BertEncoder", std::move(encoder));
  if (is_for(c, "BertGenerationEncoder")) return p;
  return with_tied_decoder(in("bert", f + "Encoder", std::move(p)) +
                               in("lm_head", f + "OnlyLMHead",
                                  tensor("bias", {s.vocab}, Role::bias) +
                                      output_head("decoder", s.hidden, s.vocab, Bias::yes)),
                           "lm_head.decoder", "lm_head.bias",
                           "bert.embeddings.word_embeddings.weight", s);
}

}  // namespace headroom::model::families::bert_generation
