// DeBERTa (arXiv:2006.03654), v1 to v3. Attention scores include terms for relative positions. All
// layers share the table of relative positions.
#include <boost/json.hpp>

#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::deberta {

/// The value is a string such as "p2c|c2p" in older files and a list in newer ones.
std::string position_terms(const Config& c) {
  const auto* value = c.object().if_contains("pos_att_type");
  if (!value || value->is_null()) return "";
  if (value->is_string()) return c.text({"pos_att_type"});
  std::string all;
  for (const auto& term : c.texts({"pos_att_type"})) all += term + '|';
  return all;
}

/// Number of relative positions in one direction.
Size span(const Config& c) {
  const auto positive = [&](std::string_view key) {
    const double n = c.number({key}, -1);
    return n >= 1 ? static_cast<Size>(n) : Size{0};
  };
  if (positive("position_buckets") > 0) return positive("position_buckets");
  if (positive("max_relative_positions") > 0) return positive("max_relative_positions");
  return c.dim({"max_position_embeddings"}, 512);
}

Part disentangled(const Config& c, Size hidden) {
  Part p = linear("query_proj", hidden, hidden, Bias::yes) +
           linear("key_proj", hidden, hidden, Bias::yes) +
           linear("value_proj", hidden, hidden, Bias::yes);
  if (c.flag({"relative_attention"}, false)) {
    p = std::move(p) + dropout("pos_dropout");
    if (!c.flag({"share_att_key"}, false)) {
      const std::string terms = position_terms(c);
      for (const auto& [term, name] : {std::pair{"c2p", "pos_key_proj"}, {"p2c", "pos_query_proj"}})
        if (terms.find(term) != std::string::npos)
          p = std::move(p) + linear(name, hidden, hidden, Bias::yes);
    }
  }
  return in("self", "DisentangledSelfAttention", std::move(p) + dropout());
}

Part norm(const std::string& prefix, Size dim) {
  Part p = layer_norm("LayerNorm", dim);
  if (prefix == "Deberta") p.modules[0].class_name = "DebertaLayerNorm";
  return p;
}
Part output(std::string_view name, const std::string& prefix, std::string_view suffix, Size in_dim,
            Size out_dim) {
  return in(name, join(prefix, suffix),
            linear("dense", in_dim, out_dim, Bias::yes) + norm(prefix, out_dim) + dropout());
}

/// The first version has one projection for queries, keys and values. Every layer projects the
/// relative positions.
Part disentangled_v1(const Config& c, const BertSizes& s) {
  Part p = tensor("q_bias", {s.hidden}, Role::bias) + tensor("v_bias", {s.hidden}, Role::bias) +
           linear("in_proj", s.hidden, 3 * s.hidden);
  if (c.flag({"talking_head"}, false))
    p = std::move(p) + linear("head_logits_proj", s.heads, s.heads) +
        linear("head_weights_proj", s.heads, s.heads);
  if (c.flag({"relative_attention"}, false)) {
    const std::string terms = position_terms(c);
    p = std::move(p) + dropout("pos_dropout");
    if (terms.find("c2p") != std::string::npos)
      p = std::move(p) + linear("pos_proj", s.hidden, s.hidden);
    if (terms.find("p2c") != std::string::npos)
      p = std::move(p) + linear("pos_q_proj", s.hidden, s.hidden, Bias::yes);
  }
  return in("self", "DisentangledSelfAttention", std::move(p) + dropout());
}

Part embeddings(const Config& c, const std::string& prefix, const BertSizes& s, Size width) {
  Part p = embedding("word_embeddings", s.vocab, width);
  if (c.flag({"position_biased_input"}, true))
    p = std::move(p) + embedding("position_embeddings", s.positions, width);
  if (s.types > 0) p = std::move(p) + embedding("token_type_embeddings", s.types, width);
  if (width != s.hidden) p = std::move(p) + linear("embed_proj", width, s.hidden);
  return in("embeddings", join(prefix, "Embeddings"),
            std::move(p) + norm(prefix, s.hidden) + dropout() + position_ids(s.positions));
}

Part body(const Config& c, const std::string& prefix, const BertSizes& s, Size width) {
  const bool first = prefix == "Deberta";
  Part encoder = stack("layer", join(prefix, "Layer"), s.layers, [&] {
    return in("attention", join(prefix, "Attention"),
              (first ? disentangled_v1(c, s) : disentangled(c, s.hidden)) +
                  output("output", prefix, "SelfOutput", s.hidden, s.hidden)) +
           bert_intermediate(prefix, s) + output("output", prefix, "Output", s.inner, s.hidden);
  });
  if (c.flag({"relative_attention"}, false))
    encoder = std::move(encoder) + embedding("rel_embeddings", 2 * span(c), s.hidden);
  if (first)
    return embeddings(c, prefix, s, width) +
           in("encoder", join(prefix, "Encoder"), std::move(encoder));
  if (word_of(c, {"norm_rel_ebd"}, "none", {"none", "layer_norm"}) == "layer_norm")
    encoder = std::move(encoder) + layer_norm("LayerNorm", s.hidden);
  const Size kernel = c.count({"conv_kernel_size"}, 0);
  if (kernel > 0)
    encoder = std::move(encoder) +
              in("conv", "ConvLayer",
                 convolution("conv", "Conv1d",
                             {s.hidden, s.hidden / c.dim({"conv_groups"}, 1), kernel}, Bias::yes) +
                     layer_norm("LayerNorm", s.hidden) + dropout());
  return embeddings(c, prefix, s, width) +
         in("encoder", join(prefix, "Encoder"), std::move(encoder));
}

Part whole(const Config& c, const std::string& prefix) {
  BertSizes s = bert_sizes(c);
  s.types = c.count({"type_vocab_size"}, 0);
  const Size width = c.dim({"embedding_size"}, s.hidden);
  if (is_for(c, prefix + "Model")) return body(c, prefix, s, width);
  Part p = in("deberta", prefix + "Model", body(c, prefix, s, width));
  if (is_for(c, "ForMaskedLM")) {
    if (!c.flag({"legacy"}, true))
      c.fail("legacy", "found false; only the legacy head of " + c.class_name() + " is described");
    p = std::move(p) +
        in("cls", "Legacy" + prefix + "OnlyMLMHead",
           in("predictions", "Legacy" + prefix + "LMPredictionHead",
              tensor("bias", {s.vocab}, Role::bias) +
                  in("transform", "Legacy" + prefix + "PredictionHeadTransform",
                     linear("dense", s.hidden, width, Bias::yes) +
                         module("transform_act_fn", s.act) + layer_norm("LayerNorm", width)) +
                  output_head("decoder", width, s.vocab, Bias::yes)));
    return with_tied_decoder(std::move(p), "cls.predictions.decoder", "cls.predictions.bias",
                             "deberta.embeddings.word_embeddings.weight", s);
  }
  if (is_for(c, "ForSequenceClassification")) {
    const Size pooled = c.dim({"pooler_hidden_size"}, s.hidden);
    return std::move(p) +
           in("pooler", "ContextPooler", linear("dense", pooled, pooled, Bias::yes) + dropout()) +
           linear("classifier", pooled, labels(c), Bias::yes) + dropout();
  }
  return std::move(p) + task_head(c, s.hidden);
}

/// Source: transformers 5.23, models/deberta/modeling_deberta.py, models/deberta_v2.
Part deberta(const Config& c) {
  const bool second = c.class_name().starts_with("DebertaV2");
  return with_quirks(whole(c, second ? "DebertaV2" : "Deberta"), {.norms_the_sum = true});
}

}  // namespace headroom::model::families::deberta
