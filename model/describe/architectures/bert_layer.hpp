// BERT's layer and heads, which its many relatives reuse under their own class names.
#pragma once

#include <string>
#include <string_view>

#include "model/describe/architectures/words.hpp"

namespace headroom::model::families {

enum class Pooler : bool { no, yes };

/// The numbers of a BERT-like config, in elements.
struct BertSizes {
  Size hidden, inner, heads, layers, vocab, positions, types;
  std::string act;      ///< class of the activation
  bool decoder, cross;  ///< keeps a cache of its own; of an encoder
  bool tied;            ///< head and word embeddings share storage
};
BertSizes bert_sizes(const Config& c);

Part bert_projections(const BertSizes& s);
Part bert_output(std::string_view name, std::string_view class_name, Size in_dim, Size out_dim);
Part bert_attention(std::string_view name, std::string_view prefix, const BertSizes& s,
                    CacheKind kind = CacheKind::self_attention);
Part bert_intermediate(std::string_view prefix, const BertSizes& s);
Part bert_layer(std::string_view prefix, const BertSizes& s);
Part bert_encoder(std::string_view prefix, const BertSizes& s);
Part bert_pooler(std::string_view prefix, Size hidden);
/// Below BertModel: embeddings, encoder and pooler.
Part bert_model(const Config& c, std::string_view prefix, const BertSizes& s, Pooler pooler);
Part bert_predictions(std::string_view prefix, const BertSizes& s);
Part bert_masked_head(std::string_view prefix, const BertSizes& s);
Part roberta_lm_head(std::string_view class_name, const BertSizes& s);
/// RoBERTa's classifier: dense, dropout, out_proj.
Part classification_head(std::string_view class_name, Size hidden, Size classes);
/// The head of a class that is for question answering, tokens, sequences or multiple choice.
Part task_head(const Config& c, Size hidden);
/// True if the class has a head over the vocabulary.
bool is_language_model(const Config& c);
/// Ties `head`.weight to the word embeddings and `head`.bias to `bias` where the config ties.
Part with_tied_decoder(Part part, std::string_view head, std::string_view bias,
                       std::string_view embedding_weight, const BertSizes& s);

/// BERT and those that kept its layer: no rotation, norms after each sum, a softmax in the input's
/// type.
inline constexpr LayerQuirks post_norm_encoder{
    .attention = {.rotation = Rotation::none, .softmax_fp32 = false}, .norms_the_sum = true};

}  // namespace headroom::model::families
