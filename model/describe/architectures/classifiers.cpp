// Decoders with a classification head: reward models, rerankers and taggers. They keep a decoder's
// body and replace the output head by one of a few labels.
#include "model/describe/architectures/classifiers.hpp"

#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families {

namespace {

/// `body` and a head called `name`.
Part with_task_head(const Config& c, Part body, std::string_view name) {
  const Config text = c.has("text_config") ? section_of(c, "text_config", "") : c;
  const Size width = text.dim({"word_embed_proj_dim"}, width_of(text));  // OPT's, projected
  if (is_for(c, "ForQuestionAnswering"))
    return std::move(body) + linear("qa_outputs", width, 2, Bias::yes);
  if (is_for(c, "ForSequenceClassification"))
    return std::move(body) + linear(name, width, labels(c));
  return std::move(body) + dropout() +
         linear(name, width, labels(c), c.bias({"token_classification_bias"}, true));
}

}  // namespace

/// Source: transformers 5.23, modeling_layers.py (GenericForSequenceClassification,
/// GenericForTokenClassification, GenericForQuestionAnswering), and the same heads of older
/// families.
Part scored(const Config& c) { return with_task_head(c, body_without_head(c), "score"); }

/// Source: transformers 5.23, models/{gpt2,gpt_neo,gpt_neox,bloom,falcon,mpt,biogpt,ctrl}.
Part classified(const Config& c) { return with_task_head(c, body_without_head(c), "classifier"); }

/// Source: transformers 5.23, models/llama and others that name the body so for this task alone.
Part answered(const Config& c) {
  return with_task_head(c, body_without_head(c, "transformer"), "");
}

}  // namespace headroom::model::families
