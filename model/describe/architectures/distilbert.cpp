// DistilBERT: BERT with half of the layers, and without token types and pooler.
#include "model/describe/architectures/words.hpp"

namespace headroom::model::families::distilbert {

Part distilbert_body(const Config& c) {
  const Size dim = c.dim({"dim", "hidden_size"}), inner = c.dim({"hidden_dim"});
  const Size positions = c.dim({"max_position_embeddings"}, 512);
  const std::string act = activation_class(c, {"activation"}, "gelu");
  return in("embeddings", "Embeddings",
            embedding("word_embeddings", c.dim({"vocab_size"}), dim) +
                embedding("position_embeddings", positions, dim) + layer_norm("LayerNorm", dim) +
                dropout() + position_ids(positions)) +
         in("transformer", "Transformer",
            with_quirks(stack("layer", "TransformerBlock", c.dim({"n_layers", "num_hidden_layers"}),
                              [&] {
                                return in("attention", "DistilBertSelfAttention",
                                          linear("q_lin", dim, dim, Bias::yes) +
                                              linear("k_lin", dim, dim, Bias::yes) +
                                              linear("v_lin", dim, dim, Bias::yes) +
                                              linear("out_lin", dim, dim, Bias::yes) + dropout()) +
                                       layer_norm("sa_layer_norm", dim) +
                                       in("ffn", "FFN",
                                          dropout() + linear("lin1", dim, inner, Bias::yes) +
                                              linear("lin2", inner, dim, Bias::yes) +
                                              module("activation", act)) +
                                       layer_norm("output_layer_norm", dim);
                              }),
                        {.attention = {.rotation = Rotation::none, .softmax_fp32 = false},
                         .norms_the_sum = true}));
}

/// Source: transformers 5.23, models/distilbert/modeling_distilbert.py.
Part distilbert(const Config& c) {
  if (is_for(c, "DistilBertModel")) return distilbert_body(c);
  const Size dim = c.dim({"dim", "hidden_size"}), vocab = c.dim({"vocab_size"});
  Part body = in("distilbert", "DistilBertModel", distilbert_body(c));
  if (is_for(c, "ForMaskedLM")) {
    body = module("activation", activation_class(c, {"activation"}, "gelu")) + std::move(body) +
           linear("vocab_transform", dim, dim, Bias::yes) + layer_norm("vocab_layer_norm", dim) +
           output_head("vocab_projector", dim, vocab, Bias::yes) +
           module("mlm_loss_fct", "CrossEntropyLoss");
    if (!c.flag({"tie_word_embeddings"}, true)) return body;
    return tied(std::move(body), "vocab_projector.weight",
                "distilbert.embeddings.word_embeddings.weight");
  }
  if (is_for(c, "ForQuestionAnswering"))
    return std::move(body) + linear("qa_outputs", dim, labels(c), Bias::yes) + dropout();
  if (is_for(c, "ForTokenClassification"))
    return std::move(body) + dropout() + linear("classifier", dim, labels(c), Bias::yes);
  return std::move(body) + linear("pre_classifier", dim, dim, Bias::yes) +
         linear("classifier", dim, labels(c), Bias::yes) + dropout();
}

}  // namespace headroom::model::families::distilbert
