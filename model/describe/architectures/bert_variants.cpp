// BERT-like encoders that moved, added or dropped norms, embeddings or adapters.
#include <boost/json.hpp>

#include "model/describe/architectures/bert_layer.hpp"

namespace headroom::model::families::bert_variants {

/// The class without the head it is for: "LayoutLM" of "LayoutLMForMaskedLM".
std::string family_of(const Config& c) {
  const std::string& name = c.class_name();
  for (const std::string_view suffix : {"For", "Model", "Decoder", "Encoder"})
    if (const auto at = name.rfind(suffix); at != std::string::npos && at > 0)
      return name.substr(0, at);
  return name;
}

/// query, key and value with the cache of a decoder.
Part self_attention(std::string_view class_name, const BertSizes& s) {
  Part p = bert_projections(s);
  if (s.decoder) p.caches = {kv_cache({s.heads, s.heads, s.hidden / s.heads})};
  return in("self", class_name, std::move(p));
}

/// dense and dropout, without the norm.
Part plain_output(std::string_view class_name, Size in_dim, Size out_dim) {
  return in("output", class_name, linear("dense", in_dim, out_dim, Bias::yes) + dropout());
}

Part masked(Part body, const std::string& family, std::string_view base, const BertSizes& s) {
  Part p = in(base, family + "Model", std::move(body)) + bert_masked_head(family, s);
  return with_tied_decoder(std::move(p), "cls.predictions.decoder", "cls.predictions.bias",
                           join(base, ".embeddings.word_embeddings.weight"), s);
}

Part roberta_masked(Part body, const std::string& family, std::string_view base,
                    const BertSizes& s) {
  Part p = in(base, family + "Model", std::move(body)) + roberta_lm_head(family + "LMHead", s);
  return with_tied_decoder(std::move(p), "lm_head.decoder", "lm_head.bias",
                           join(base, ".embeddings.word_embeddings.weight"), s);
}

Part words_and_types(const BertSizes& s) {
  return embedding("word_embeddings", s.vocab, s.hidden) +
         embedding("token_type_embeddings", s.types, s.hidden);
}

/// Positions on a page besides those in the text. Source: transformers 5.23, models/layoutlm.
Part layoutlm(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const Size page = c.dim({"max_2d_position_embeddings"}, 1024);
  Part p = embedding("word_embeddings", s.vocab, s.hidden) +
           embedding("position_embeddings", s.positions, s.hidden);
  for (const auto name : {"x_position_embeddings", "y_position_embeddings", "h_position_embeddings",
                          "w_position_embeddings"})
    p = std::move(p) + embedding(name, page, s.hidden);
  p = in("embeddings", "LayoutLMEmbeddings",
         std::move(p) + embedding("token_type_embeddings", s.types, s.hidden) +
             layer_norm("LayerNorm", s.hidden) + dropout() + position_ids(s.positions)) +
      bert_encoder("LayoutLM", s) + bert_pooler("LayoutLM", s.hidden);
  if (is_for(c, "LayoutLMModel")) return p;
  if (is_language_model(c)) return masked(std::move(p), "LayoutLM", "layoutlm", s);
  return in("layoutlm", "LayoutLMModel", std::move(p)) + task_head(c, s.hidden);
}

/// Norms before each block. Source: transformers 5.23, models/megatron_bert.
Part megatron_bert(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string f = "MegatronBert";
  Part p = in("embeddings", f + "Embeddings",
              embedding("word_embeddings", s.vocab, s.hidden) +
                  embedding("position_embeddings", s.positions, s.hidden) +
                  embedding("token_type_embeddings", s.types, s.hidden) + dropout() +
                  position_ids(s.positions)) +
           in("encoder", f + "Encoder",
              stack("layer", f + "Layer", s.layers, [&] {
                return in("attention", f + "Attention",
                          layer_norm("ln", s.hidden) + self_attention(f + "SelfAttention", s) +
                              plain_output(f + "SelfOutput", s.hidden, s.hidden)) +
                       layer_norm("ln", s.hidden) + bert_intermediate(f, s) +
                       plain_output(f + "Output", s.inner, s.hidden);
              }) + layer_norm("ln", s.hidden));
  if (is_for(c, "MegatronBertModel")) return std::move(p) + bert_pooler(f, s.hidden);
  if (is_for(c, "ForPreTraining"))
    return with_tied_decoder(
        in("bert", f + "Model", std::move(p) + bert_pooler(f, s.hidden)) +
            in("cls", f + "PreTrainingHeads",
               bert_predictions(f, s) + linear("seq_relationship", s.hidden, 2, Bias::yes)),
        "cls.predictions.decoder", "cls.predictions.bias", "bert.embeddings.word_embeddings.weight",
        s);
  return masked(std::move(p), f, "bert", s);
}

/// RoBERTa with norms before each block. Source: transformers 5.23, models/roberta_prelayernorm.
Part roberta_prelayernorm(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string f = "RobertaPreLayerNorm";
  Part p = in("embeddings", f + "Embeddings",
              words_and_types(s) + layer_norm("LayerNorm", s.hidden) + dropout() +
                  embedding("position_embeddings", s.positions, s.hidden) +
                  position_ids(s.positions) + position_ids(s.positions, "token_type_ids")) +
           in("encoder", f + "Encoder",
              stack("layer", f + "Layer", s.layers,
                    [&] {
                      return in("attention", f + "Attention",
                                self_attention(f + "SelfAttention", s) +
                                    plain_output(f + "SelfOutput", s.hidden, s.hidden) +
                                    layer_norm("LayerNorm", s.hidden)) +
                             in("intermediate", f + "Intermediate",
                                layer_norm("LayerNorm", s.hidden) +
                                    linear("dense", s.hidden, s.inner, Bias::yes) +
                                    module("intermediate_act_fn", s.act)) +
                             plain_output(f + "Output", s.inner, s.hidden);
                    })) +
           layer_norm("LayerNorm", s.hidden);
  const bool model = is_for(c, "RobertaPreLayerNormModel");
  return unsplittable(model ? std::move(p) + bert_pooler(f, s.hidden)
                            : roberta_masked(std::move(p), f, "roberta_prelayernorm", s),
                      {f + "Embeddings", f + "SelfAttention", f + "CrossAttention"});
}

/// RoBERTa at 3.5 and 10.7 billion, norms before. Source: transformers 5.23,
/// models/xlm_roberta_xl.
Part xlm_roberta_xl(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string f = "XLMRobertaXL";
  Part p =
      in("embeddings", f + "Embeddings",
         words_and_types(s) + dropout() + embedding("position_embeddings", s.positions, s.hidden) +
             position_ids(s.positions) + position_ids(s.positions, "token_type_ids")) +
      in("encoder", f + "Encoder",
         stack("layer", f + "Layer", s.layers, [&] {
           return in("attention", f + "Attention",
                     self_attention(f + "SelfAttention", s) +
                         plain_output(f + "SelfOutput", s.hidden, s.hidden) +
                         layer_norm("self_attn_layer_norm", s.hidden)) +
                  bert_intermediate(f, s) +
                  in("output", f + "Output", linear("dense", s.inner, s.hidden, Bias::yes)) +
                  layer_norm("LayerNorm", s.hidden);
         }) + layer_norm("LayerNorm", s.hidden));
  const bool model = is_for(c, "XLMRobertaXLModel");
  return unsplittable(model ? std::move(p) + bert_pooler(f, s.hidden)
                            : roberta_masked(std::move(p), f, "roberta", s),
                      {f + "Embeddings", f + "Layer"});
}

/// Words, how they sound and how they look, mapped onto one width.
/// Source: transformers 5.23, models/roc_bert.
Part roc_bert(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string f = "RoCBert";
  const Size sound = c.dim({"pronunciation_embed_dim"}, 768);
  const Size look = c.dim({"shape_embed_dim"}, 512);
  const bool sounds = c.flag({"enable_pronunciation"}, true),
             looks = c.flag({"enable_shape"}, true);
  Part words = embedding("word_embeddings", s.vocab, s.hidden) +
               embedding("pronunciation_embed", c.dim({"pronunciation_vocab_size"}, 910), sound) +
               embedding("shape_embed", c.dim({"shape_vocab_size"}, 24858), look) +
               embedding("position_embeddings", s.positions, s.hidden) +
               embedding("token_type_embeddings", s.types, s.hidden);
  if (c.flag({"concat_input"}, true))
    words = std::move(words) + linear("map_inputs_layer",
                                      s.hidden + (sounds ? sound : 0) + (looks ? look : 0),
                                      s.hidden, Bias::yes);
  Part p = in("embeddings", f + "Embeddings",
              std::move(words) + layer_norm("LayerNorm", s.hidden) + dropout() +
                  position_ids(s.positions) + position_ids(s.positions, "token_type_ids")) +
           bert_encoder(f, s);
  if (is_for(c, "RoCBertModel")) return std::move(p) + bert_pooler(f, s.hidden);
  if (is_for(c, "ForPreTraining")) p = std::move(p) + bert_pooler(f, s.hidden);
  return with_tied_decoder(in("roc_bert", f + "Model", std::move(p)) + bert_masked_head(f, s),
                           "cls.predictions.decoder", "cls.predictions.bias",
                           "roc_bert.embeddings.word_embeddings.weight", s);
}

/// Adapters for each language in every layer. Source: transformers 5.23, models/xmod.
Part xmod(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const Size narrow = s.hidden / c.dim({"adapter_reduction_factor"}, 2);
  auto languages = c.texts({"languages"});
  if (languages.empty()) languages = {"en_XX"};
  Part adapters;
  for (const auto& language : languages)
    adapters = std::move(adapters) + in(language, "XmodAdapter",
                                        linear("dense1", s.hidden, narrow, Bias::yes) +
                                            linear("dense2", narrow, s.hidden, Bias::yes) +
                                            module("adapter_act_fn", s.act));
  Part extra =
      c.flag({"adapter_layer_norm"}, false) ? layer_norm("adapter_layer_norm", s.hidden) : Part{};
  extra = std::move(extra) + in("adapter_modules", "ModuleDict", std::move(adapters));
  Part p = in("embeddings", "XmodEmbeddings",
              words_and_types(s) + layer_norm("LayerNorm", s.hidden) + dropout() +
                  embedding("position_embeddings", s.positions, s.hidden) +
                  position_ids(s.positions) + position_ids(s.positions, "token_type_ids")) +
           in("encoder", "XmodEncoder",
              stack("layer", "XmodLayer", s.layers, [&] {
                return bert_attention("attention", "Xmod", s) + bert_intermediate("Xmod", s) +
                       in("output", "XmodOutput",
                          linear("dense", s.inner, s.hidden, Bias::yes) +
                              layer_norm("LayerNorm", s.hidden) + dropout() + extra);
              }) + (c.flag({"pre_norm"}, false) ? layer_norm("LayerNorm", s.hidden) : Part{}));
  if (is_for(c, "XmodModel")) return std::move(p) + bert_pooler("Xmod", s.hidden);
  return roberta_masked(std::move(p), "Xmod", "roberta", s);
}

/// MRA (approximate attention) and TAPAS (tables) keep BERT's layer.
/// Source: transformers 5.23, models/mra, models/tapas.
Part mra_or_tapas(const Config& c) {
  BertSizes s = bert_sizes(c);
  const std::string f = family_of(c);
  if (f == "Mra") s.cross = false;  // the flag changes nothing
  Part p;
  if (f == "Mra") {
    Part ids = position_ids(s.positions);
    ids.tensors[0].persistent = true;
    p = in("embeddings", "MraEmbeddings",
           embedding("word_embeddings", s.vocab, s.hidden) +
               embedding("position_embeddings", s.positions + 2, s.hidden) +
               embedding("token_type_embeddings", s.types, s.hidden) +
               layer_norm("LayerNorm", s.hidden) + dropout() + std::move(ids) +
               position_ids(s.positions, "token_type_ids"));
  } else {
    auto sizes = c.dims({"type_vocab_sizes"});
    if (sizes.empty()) sizes = {3, 256, 256, 2, 256, 256, 10};
    p = embedding("word_embeddings", s.vocab, s.hidden) +
        embedding("position_embeddings", s.positions, s.hidden);
    for (std::size_t i = 0; i < sizes.size(); ++i)
      p = std::move(p) +
          embedding("token_type_embeddings_" + std::to_string(i), sizes[i], s.hidden);
    p = in("embeddings", "TapasEmbeddings",
           std::move(p) + layer_norm("LayerNorm", s.hidden) + dropout());
  }
  p = std::move(p) + bert_encoder(f, s);
  return masked(std::move(p), f, f == "Mra" ? "mra" : "tapas", s);
}

/// RoBERTa with second projections for tokens that attend globally.
/// Source: transformers 5.23, models/longformer.
Part longformer(const Config& c) {
  const BertSizes s = bert_sizes(c);
  const std::string f = "Longformer";
  Part p =
      in("embeddings", f + "Embeddings",
         words_and_types(s) + layer_norm("LayerNorm", s.hidden) + dropout() +
             embedding("position_embeddings", s.positions, s.hidden)) +
      in("encoder", f + "Encoder",
         with_quirks(
             stack("layer", f + "Layer", s.layers,
                   [&] {
                     Part self;
                     for (const auto name :
                          {"query", "key", "value", "query_global", "key_global", "value_global"})
                       self = std::move(self) + linear(name, s.hidden, s.hidden, Bias::yes);
                     return in("attention", f + "Attention",
                               in("self", f + "SelfAttention", std::move(self)) +
                                   bert_output("output", f + "SelfOutput", s.hidden, s.hidden)) +
                            bert_intermediate(f, s) +
                            bert_output("output", f + "Output", s.inner, s.hidden);
                   }),
             {.norms_the_sum = true}));
  const auto whole = [](Part part) {
    return unsplittable(std::move(part), {"LongformerSelfAttention"});
  };
  if (is_for(c, "LongformerModel")) return whole(std::move(p) + bert_pooler(f, s.hidden));
  if (is_language_model(c)) return whole(roberta_masked(std::move(p), f, "longformer", s));
  return whole(in("longformer", f + "Model", std::move(p)) +
               (is_for(c, "ForSequenceClassification")
                    ? classification_head(f + "ClassificationHead", s.hidden, labels(c))
                    : task_head(c, s.hidden)));
}

/// Fourier transforms in place of attention. Source: transformers 5.23, models/fnet.
Part fnet(const Config& c) {
  BertSizes s = bert_sizes(c.with_defaults({{"num_attention_heads", 1}}));
  s.types = c.count({"type_vocab_size"}, 4);
  s.act = activation_class(c, {"hidden_act"}, "gelu_new");
  Part p =
      in("embeddings", "FNetEmbeddings",
         embedding("word_embeddings", s.vocab, s.hidden) +
             embedding("position_embeddings", s.positions, s.hidden) +
             embedding("token_type_embeddings", s.types, s.hidden) +
             layer_norm("LayerNorm", s.hidden) +
             linear("projection", s.hidden, s.hidden, Bias::yes) + dropout() +
             position_ids(s.positions) + position_ids(s.positions, "token_type_ids")) +
      in("encoder", "FNetEncoder",
         stack("layer", "FNetLayer", s.layers,
               [&] {
                 return in("fourier", "FNetFourierTransform",
                           module("self", "FNetBasicFourierTransform") +
                               in("output", "FNetBasicOutput", layer_norm("LayerNorm", s.hidden))) +
                        bert_intermediate("FNet", s) +
                        bert_output("output", "FNetOutput", s.inner, s.hidden);
               })) +
      bert_pooler("FNet", s.hidden);
  return is_for(c, "FNetModel") ? p : masked(std::move(p), "FNet", "fnet", s);
}

}  // namespace headroom::model::families::bert_variants
