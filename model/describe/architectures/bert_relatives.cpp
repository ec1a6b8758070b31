// Encoders that changed one thing in BERT: Electra's narrow embeddings, ALBERT's one layer used for
// all, MPNet's relative positions.
#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::bert_relatives {

Part narrow_embeddings(std::string_view prefix, const BertSizes& s, Size width) {
  return in("embeddings", join(prefix, "Embeddings"),
            embedding("word_embeddings", s.vocab, width) +
                embedding("position_embeddings", s.positions, width) +
                embedding("token_type_embeddings", s.types, width) +
                layer_norm("LayerNorm", width) + dropout() + position_ids(s.positions) +
                position_ids(s.positions, "token_type_ids"));
}

/// Source: transformers 5.23, models/electra/modeling_electra.py.
Part electra(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const Size width = c.dim({"embedding_size"}, 128);
  Part body = narrow_embeddings("Electra", s, width);
  if (width != s.hidden)
    body = std::move(body) + linear("embeddings_project", width, s.hidden, Bias::yes);
  body = std::move(body) + with_quirks(bert_encoder("Electra", s), post_norm_encoder);
  if (is_for(c, "ElectraModel")) return body;
  body = in("electra", "ElectraModel", std::move(body));
  if (is_for(c, "ForPreTraining"))
    return std::move(body) +
           in("discriminator_predictions", "ElectraDiscriminatorPredictions",
              linear("dense", s.hidden, s.hidden, Bias::yes) + module("activation", s.act) +
                  linear("dense_prediction", s.hidden, 1, Bias::yes));
  if (is_language_model(c)) {
    body = std::move(body) +
           in("generator_predictions", "ElectraGeneratorPredictions",
              module("activation", "GELUActivation") + layer_norm("LayerNorm", width) +
                  linear("dense", s.hidden, width, Bias::yes)) +
           output_head("generator_lm_head", width, s.vocab, Bias::yes);
    if (!s.tied) return body;
    return tied(std::move(body), "generator_lm_head.weight",
                "electra.embeddings.word_embeddings.weight");
  }
  if (is_for(c, "ForSequenceClassification"))
    return std::move(body) + in("classifier", "ElectraClassificationHead",
                                linear("dense", s.hidden, s.hidden, Bias::yes) +
                                    module("activation", "GELUActivation") + dropout() +
                                    linear("out_proj", s.hidden, labels(c), Bias::yes));
  return std::move(body) + task_head(c, s.hidden);
}

/// Source: transformers 5.23, models/albert/modeling_albert.py.
Part albert(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const Size width = c.dim({"embedding_size"}, 128);
  const std::string act = activation_class(c, {"hidden_act"}, "gelu_new");
  const auto layer = [&] {
    return layer_norm("full_layer_layer_norm", s.hidden) +
           in("attention", "AlbertAttention",
              dropout("attention_dropout") + dropout("output_dropout") +
                  linear("query", s.hidden, s.hidden, Bias::yes) +
                  linear("key", s.hidden, s.hidden, Bias::yes) +
                  linear("value", s.hidden, s.hidden, Bias::yes) +
                  linear("dense", s.hidden, s.hidden, Bias::yes) +
                  layer_norm("LayerNorm", s.hidden)) +
           linear("ffn", s.hidden, s.inner, Bias::yes) +
           linear("ffn_output", s.inner, s.hidden, Bias::yes) + module("activation", act) +
           dropout();
  };
  const Size groups = c.dim({"num_hidden_groups"}, 1);
  Part shared = with_quirks(stack("albert_layer_groups", "AlbertLayerGroup", groups,
                                  [&] {
                                    Part group = stack("albert_layers", "AlbertLayer",
                                                       c.dim({"inner_group_num"}, 1), layer);
                                    group.blocks.clear();
                                    return group;
                                  }),
                            post_norm_encoder);
  // Pass i of the num_hidden_layers runs through group int(i / (layers / groups)).
  for (auto& m : shared.modules)
    if (m.class_name == "AlbertLayerGroup") m.passes = 0;
  for (Size i = 0; i < s.layers; ++i) {
    const std::string path = "albert_layer_groups." + std::to_string(i * groups / s.layers);
    for (auto& m : shared.modules) m.passes += m.path == path ? 1 : 0;
  }
  Part body =
      narrow_embeddings("Albert", s, width) +
      in("encoder", "AlbertTransformer",
         linear("embedding_hidden_mapping_in", width, s.hidden, Bias::yes) + std::move(shared));
  const Part pooler =
      linear("pooler", s.hidden, s.hidden, Bias::yes) + module("pooler_activation", "Tanh");
  if (is_for(c, "AlbertModel")) return std::move(body) + pooler;
  const bool pre = is_for(c, "ForPreTraining");
  if (pre) body = std::move(body) + pooler;
  if (pre || is_language_model(c))
    return with_tied_decoder(
        in("albert", "AlbertModel", std::move(body)) +
            in("predictions", "AlbertMLMHead",
               tensor("bias", {s.vocab}, Role::bias) + layer_norm("LayerNorm", width) +
                   linear("dense", s.hidden, width, Bias::yes) +
                   output_head("decoder", width, s.vocab, Bias::yes) + module("activation", act)) +
            (pre ? in("sop_classifier", "AlbertSOPHead",
                      dropout() + linear("classifier", s.hidden, labels(c), Bias::yes))
                 : Part{}),
        "predictions.decoder", "predictions.bias", "albert.embeddings.word_embeddings.weight", s);
  if (is_for(c, "ForSequenceClassification")) body = std::move(body) + pooler;
  return in("albert", "AlbertModel", std::move(body)) + task_head(c, s.hidden);
}

/// Source: transformers 5.23, models/mpnet/modeling_mpnet.py.
Part mpnet(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string_view prefix = "MPNet";
  const auto layer = [&] {
    return in("attention", "MPNetAttention",
              in("attn", "MPNetSelfAttention",
                 linear("q", s.hidden, s.hidden, Bias::yes) +
                     linear("k", s.hidden, s.hidden, Bias::yes) +
                     linear("v", s.hidden, s.hidden, Bias::yes) +
                     linear("o", s.hidden, s.hidden, Bias::yes) + dropout()) +
                  layer_norm("LayerNorm", s.hidden) + dropout()) +
           bert_intermediate(prefix, s) + bert_output("output", "MPNetOutput", s.inner, s.hidden);
  };
  Part body = in("embeddings", "MPNetEmbeddings",
                 embedding("word_embeddings", s.vocab, s.hidden) +
                     embedding("position_embeddings", s.positions, s.hidden) +
                     layer_norm("LayerNorm", s.hidden) + dropout() + position_ids(s.positions)) +
              in("encoder", "MPNetEncoder",
                 with_quirks(stack("layer", "MPNetLayer", s.layers, layer), post_norm_encoder) +
                     embedding("relative_attention_bias",
                               c.dim({"relative_attention_num_buckets"}, 32), s.heads));
  if (is_for(c, "MPNetModel")) return std::move(body) + bert_pooler(prefix, s.hidden);
  Part p = in("mpnet", "MPNetModel", std::move(body));
  if (is_language_model(c))
    return with_tied_decoder(std::move(p) + roberta_lm_head("MPNetLMHead", s), "lm_head.decoder",
                             "lm_head.bias", "mpnet.embeddings.word_embeddings.weight", s);
  if (is_for(c, "ForSequenceClassification"))
    return std::move(p) + classification_head("MPNetClassificationHead", s.hidden, labels(c));
  return std::move(p) + task_head(c, s.hidden);
}

}  // namespace headroom::model::families::bert_relatives
