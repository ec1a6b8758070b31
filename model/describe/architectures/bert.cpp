// BERT and the encoders that kept its layer: post-norm attention and feed-forward blocks.
#include <stdexcept>

#include "model/describe/architectures/bert_layer.hpp"

namespace headroom::model::families {

BertSizes bert_sizes(const Config& c) {
  const Size hidden = c.dim({"hidden_size"}), heads = c.dim({"num_attention_heads"});
  // The reference refuses them, or builds projections that its own output does not fit.
  if (hidden % heads != 0)
    c.fail("num_attention_heads", "found " + std::to_string(heads) +
                                      ", expected a divisor of hidden_size (" +
                                      std::to_string(hidden) + ")");
  return {.hidden = hidden,
          .inner = c.dim({"intermediate_size"}),
          .heads = heads,
          .layers = c.dim({"num_hidden_layers"}),
          .vocab = c.dim({"vocab_size"}),
          .positions = c.dim({"max_position_embeddings"}, 512),
          .types = c.count({"type_vocab_size"}, 2),
          .act = activation_class(c, {"hidden_act"}, "gelu"),
          .decoder = c.flag({"is_decoder"}, false),
          .cross = c.flag({"add_cross_attention"}, false),
          .tied = c.flag({"tie_word_embeddings"}, true)};
}

Part bert_output(std::string_view name, std::string_view class_name, Size in_dim, Size out_dim) {
  return in(
      name, class_name,
      linear("dense", in_dim, out_dim, Bias::yes) + layer_norm("LayerNorm", out_dim) + dropout());
}

Part bert_projections(const BertSizes& s) {
  return linear("query", s.hidden, s.hidden, Bias::yes) +
         linear("key", s.hidden, s.hidden, Bias::yes) +
         linear("value", s.hidden, s.hidden, Bias::yes) + dropout();
}

Part bert_attention(std::string_view name, std::string_view prefix, const BertSizes& s,
                    CacheKind kind) {
  const bool cross = kind == CacheKind::cross_attention;
  Part self = bert_projections(s);
  if (s.decoder) {
    self.caches = {kv_cache({s.heads, s.heads, s.hidden / s.heads})};
    self.caches[0].kind = kind;
  }
  return in(name, join(prefix, "Attention"),
            in("self", join(prefix, cross ? "CrossAttention" : "SelfAttention"), std::move(self)) +
                bert_output("output", join(prefix, "SelfOutput"), s.hidden, s.hidden));
}

Part bert_intermediate(std::string_view prefix, const BertSizes& s) {
  return in("intermediate", join(prefix, "Intermediate"),
            linear("dense", s.hidden, s.inner, Bias::yes) + module("intermediate_act_fn", s.act));
}

Part bert_layer(std::string_view prefix, const BertSizes& s) {
  Part p = bert_attention("attention", prefix, s);
  if (s.cross)
    p = std::move(p) + bert_attention("crossattention", prefix, s, CacheKind::cross_attention);
  return std::move(p) + bert_intermediate(prefix, s) +
         bert_output("output", join(prefix, "Output"), s.inner, s.hidden);
}

Part bert_encoder(std::string_view prefix, const BertSizes& s) {
  return in("encoder", join(prefix, "Encoder"),
            stack("layer", join(prefix, "Layer"), s.layers, [&] { return bert_layer(prefix, s); }));
}

Part bert_pooler(std::string_view prefix, Size hidden) {
  return in("pooler", join(prefix, "Pooler"),
            linear("dense", hidden, hidden, Bias::yes) + module("activation", "Tanh"));
}

Part bert_predictions(std::string_view prefix, const BertSizes& s) {
  Part p = in("predictions", join(prefix, "LMPredictionHead"),
              tensor("bias", {s.vocab}, Role::bias) +
                  in("transform", join(prefix, "PredictionHeadTransform"),
                     linear("dense", s.hidden, s.hidden, Bias::yes) +
                         module("transform_act_fn", s.act) + layer_norm("LayerNorm", s.hidden)) +
                  output_head("decoder", s.hidden, s.vocab, Bias::yes));
  return p;
}

Part bert_masked_head(std::string_view prefix, const BertSizes& s) {
  return in("cls", join(prefix, "OnlyMLMHead"), bert_predictions(prefix, s));
}

Part with_tied_decoder(Part part, std::string_view head, std::string_view bias,
                       std::string_view embedding_weight, const BertSizes& s) {
  if (!s.tied) return part;
  part = tied(std::move(part), join(head, ".weight"), embedding_weight);
  return tied(std::move(part), join(head, ".bias"), bias);
}

Part roberta_lm_head(std::string_view class_name, const BertSizes& s) {
  return in("lm_head", class_name,
            tensor("bias", {s.vocab}, Role::bias) + linear("dense", s.hidden, s.hidden, Bias::yes) +
                layer_norm("layer_norm", s.hidden) +
                output_head("decoder", s.hidden, s.vocab, Bias::yes));
}

Part classification_head(std::string_view class_name, Size hidden, Size classes) {
  return in("classifier", class_name,
            linear("dense", hidden, hidden, Bias::yes) + dropout() +
                linear("out_proj", hidden, classes, Bias::yes));
}

Part task_head(const Config& c, Size hidden) {
  if (is_for(c, "ForQuestionAnswering")) return linear("qa_outputs", hidden, labels(c), Bias::yes);
  if (is_for(c, "ForMultipleChoice")) return dropout() + linear("classifier", hidden, 1, Bias::yes);
  if (is_for(c, "ForSequenceClassification") || is_for(c, "ForTokenClassification"))
    return dropout() + linear("classifier", hidden, labels(c), Bias::yes);
  throw std::logic_error("no head for " + c.class_name());
}

bool is_language_model(const Config& c) {
  return is_for(c, "ForMaskedLM") || is_for(c, "ForCausalLM") || is_for(c, "LMHeadModel");
}

namespace {

Part bert_embeddings(const Config& c, std::string_view prefix, const BertSizes& s) {
  Part p = embedding("word_embeddings", s.vocab, s.hidden) +
           embedding("position_embeddings", s.positions, s.hidden) +
           embedding("token_type_embeddings", s.types, s.hidden) +
           layer_norm("LayerNorm", s.hidden) + dropout();
  if (prefix == "Ernie" && c.flag({"use_task_id"}, false))
    p = std::move(p) +
        embedding("task_type_embeddings", c.dim({"task_type_vocab_size"}, 3), s.hidden);
  return in("embeddings", join(prefix, "Embeddings"),
            std::move(p) + position_ids(s.positions) + position_ids(s.positions, "token_type_ids"));
}

/// RoBERTa registers its positions last.
Part roberta_embeddings(std::string_view prefix, const BertSizes& s) {
  return in("embeddings", join(prefix, "Embeddings"),
            embedding("word_embeddings", s.vocab, s.hidden) +
                embedding("token_type_embeddings", s.types, s.hidden) +
                layer_norm("LayerNorm", s.hidden) + dropout() +
                embedding("position_embeddings", s.positions, s.hidden) +
                position_ids(s.positions) + position_ids(s.positions, "token_type_ids"));
}

}  // namespace

Part bert_model(const Config& c, std::string_view prefix, const BertSizes& s, Pooler pooler) {
  Part p = bert_embeddings(c, prefix, s) + with_quirks(bert_encoder(prefix, s), post_norm_encoder);
  return pooler == Pooler::yes ? std::move(p) + bert_pooler(prefix, s.hidden) : p;
}

namespace bert {

/// Source: transformers 5.23, models/bert/modeling_bert.py, models/ernie/modeling_ernie.py.
Part bert(const Config& c) {
  const std::string prefix = c.class_name().starts_with("Ernie") ? "Ernie" : "Bert";
  const std::string base = prefix == "Ernie" ? "ernie" : "bert", model = prefix + "Model";
  const BertSizes s = bert_sizes(c);
  const auto whole = [&](Part part) {
    return prefix == "Ernie" ? unsplittable(std::move(part), {"ErnieLayer"})
                             : unsplittable(std::move(part), {"BertEmbeddings", "BertLayer"});
  };
  if (is_for(c, model)) return whole(bert_model(c, prefix, s, Pooler::yes));
  if (is_for(c, "ForPreTraining"))
    return with_tied_decoder(
        whole(in(base, model, bert_model(c, prefix, s, Pooler::yes)) +
              in("cls", prefix + "PreTrainingHeads",
                 bert_predictions(prefix, s) + linear("seq_relationship", s.hidden, 2, Bias::yes))),
        "cls.predictions.decoder", "cls.predictions.bias",
        base + ".embeddings.word_embeddings.weight", s);
  if (is_language_model(c))
    return with_tied_decoder(
        whole(in(base, model, bert_model(c, prefix, s, Pooler::no)) + bert_masked_head(prefix, s)),
        "cls.predictions.decoder", "cls.predictions.bias",
        base + ".embeddings.word_embeddings.weight", s);
  const Pooler pooler = is_for(c, "ForSequenceClassification") || is_for(c, "ForMultipleChoice")
                            ? Pooler::yes
                            : Pooler::no;
  return whole(in(base, model, bert_model(c, prefix, s, pooler)) + task_head(c, s.hidden));
}

}  // namespace bert

namespace bert {

/// Source: transformers 5.23, models/roberta/modeling_roberta.py and its copies in
/// models/xlm_roberta, models/camembert and models/data2vec (text).
Part roberta(const Config& c) {
  std::string prefix, base = "roberta";
  for (const std::string_view name : {"Roberta", "XLMRoberta", "Camembert", "Data2VecText"})
    if (c.class_name().starts_with(name)) prefix = name;
  if (prefix == "Data2VecText") base = "data2vec_text";
  const BertSizes s = bert_sizes(c);
  const std::string model = prefix + "Model";
  const auto body = [&](Pooler pooler) {
    Part p =
        roberta_embeddings(prefix, s) + with_quirks(bert_encoder(prefix, s), post_norm_encoder);
    return pooler == Pooler::yes ? std::move(p) + bert_pooler(prefix, s.hidden) : p;
  };
  const auto whole = [&](Part part) {
    return unsplittable(std::move(part), {prefix + "Embeddings", prefix + "Layer"});
  };
  // The copies that are generated from RoBERTa register the head before the encoder.
  const bool head_first = prefix == "XLMRoberta" || prefix == "Camembert";
  const auto joined = [&](Pooler pooler, Part head) {
    Part encoder = in(base, model, body(pooler));
    return whole(head_first ? std::move(head) + std::move(encoder)
                            : std::move(encoder) + std::move(head));
  };
  if (is_for(c, model)) return whole(body(Pooler::yes));
  if (is_language_model(c))
    return with_tied_decoder(joined(Pooler::no, roberta_lm_head(prefix + "LMHead", s)),
                             "lm_head.decoder", "lm_head.bias",
                             base + ".embeddings.word_embeddings.weight", s);
  if (is_for(c, "ForSequenceClassification"))
    return joined(Pooler::no,
                  classification_head(prefix + "ClassificationHead", s.hidden, labels(c)));
  return joined(is_for(c, "ForMultipleChoice") ? Pooler::yes : Pooler::no, task_head(c, s.hidden));
}

}  // namespace bert

}  // namespace headroom::model::families
