// MobileBERT (arXiv:2004.02984): narrow layers between bottlenecks, with several feed-forwards
// each.
#include "model/describe/architectures/bert_layer.hpp"
#include "model/describe/config_words.hpp"

namespace headroom::model::families::mobilebert {

class Builder {
 public:
  explicit Builder(const Config& c)
      : c_(c),
        s_(bert_sizes(c)),
        width_(c.dim({"embedding_size"}, 128)),
        narrow_(c.flag({"use_bottleneck"}, true)),
        inside_(narrow_ ? c.dim({"intra_bottleneck_size"}, 128) : s_.hidden),
        plain_(word_of(c, {"normalization_type"}, "no_norm", {"no_norm", "layer_norm"}) ==
               "layer_norm") {}

  const BertSizes& sizes() const { return s_; }

  Part embeddings() const {
    const Size joined = c_.flag({"trigram_input"}, true) ? 3 * width_ : width_;
    return in("embeddings", "MobileBertEmbeddings",
              embedding("word_embeddings", s_.vocab, width_) +
                  embedding("position_embeddings", s_.positions, s_.hidden) +
                  embedding("token_type_embeddings", s_.types, s_.hidden) +
                  linear("embedding_transformation", joined, s_.hidden, Bias::yes) +
                  norm(s_.hidden) + dropout() + position_ids(s_.positions));
  }

  Part encoder() const {
    return in("encoder", "MobileBertEncoder",
              stack("layer", "MobileBertLayer", s_.layers, [&] { return layer(); }));
  }

  Part head() const {
    return in(
        "predictions", "MobileBertLMPredictionHead",
        tensor("bias", {s_.vocab}, Role::bias) +
            in("transform", "MobileBertPredictionHeadTransform",
               linear("dense", s_.hidden, s_.hidden, Bias::yes) +
                   module("transform_act_fn", s_.act) + layer_norm("LayerNorm", s_.hidden)) +
            in("dense", "Linear", tensor("weight", {s_.hidden - width_, s_.vocab}, Role::matmul)) +
            output_head("decoder", width_, s_.vocab, Bias::yes));
  }

  Part pooler() const {
    return in("pooler", "MobileBertPooler",
              c_.flag({"classifier_activation"}, true)
                  ? linear("dense", s_.hidden, s_.hidden, Bias::yes)
                  : Part{});
  }

 private:
  /// Only a scale and a shift ("NoNorm"), or a full layer norm.
  Part norm(Size dim) const {
    return plain_ ? layer_norm("LayerNorm", dim)
                  : in("LayerNorm", "NoNorm",
                       tensor("bias", {dim}, Role::norm) + tensor("weight", {dim}, Role::norm));
  }
  Part normed(std::string_view name, std::string_view class_name, Size in_dim, Size out_dim,
              Part rest = {}) const {
    return in(name, class_name,
              linear("dense", in_dim, out_dim, Bias::yes) + norm(out_dim) + std::move(rest));
  }
  Part intermediate() const {
    return in(
        "intermediate", "MobileBertIntermediate",
        linear("dense", inside_, s_.inner, Bias::yes) + module("intermediate_act_fn", s_.act));
  }
  Part layer() const {
    const Size heads = inside_ / s_.heads * s_.heads;
    const bool wide_value = !c_.flag({"use_bottleneck_attention"}, false);
    const Part rest = narrow_ ? Part{} : dropout();
    Part p =
        in("attention", "MobileBertAttention",
           in("self", "MobileBertSelfAttention",
              linear("query", inside_, heads, Bias::yes) +
                  linear("key", inside_, heads, Bias::yes) +
                  linear("value", wide_value ? s_.hidden : inside_, heads, Bias::yes) + dropout()) +
               normed("output", "MobileBertSelfOutput", inside_, inside_, rest)) +
        intermediate();
    if (narrow_) {
      Part bottleneck = normed("input", "BottleneckLayer", s_.hidden, inside_);
      if (c_.flag({"key_query_shared_bottleneck"}, true))
        bottleneck =
            std::move(bottleneck) + normed("attention", "BottleneckLayer", s_.hidden, inside_);
      p = std::move(p) +
          normed("output", "MobileBertOutput", s_.inner, inside_,
                 normed("bottleneck", "OutputBottleneck", inside_, s_.hidden, dropout())) +
          in("bottleneck", "Bottleneck", std::move(bottleneck));
    } else {
      p = std::move(p) + normed("output", "MobileBertOutput", s_.inner, inside_, rest);
    }
    const Size networks = c_.dim({"num_feedforward_networks"}, 4);
    if (networks == 1) return p;
    Part more = stack("ffn", "FFNLayer", networks - 1, [&] {
      return intermediate() + normed("output", "FFNOutput", s_.inner, inside_);
    });
    more.blocks.clear();
    return std::move(p) + std::move(more);
  }

  const Config& c_;
  BertSizes s_;
  Size width_;
  bool narrow_;
  Size inside_;
  bool plain_;
};

/// Source: transformers 5.23, models/mobilebert/modeling_mobilebert.py.
Part mobilebert(const Config& c) {
  const Builder b(c);
  const std::string base = "mobilebert", model = "MobileBertModel";
  const Size hidden = b.sizes().hidden;
  Part body = b.embeddings() + b.encoder();
  if (is_for(c, model)) return std::move(body) + b.pooler();
  const auto with_head = [&](Part encoder, std::string_view heads, Part more) {
    return with_tied_decoder(
        in(base, model, std::move(encoder)) + in("cls", heads, b.head() + std::move(more)),
        "cls.predictions.decoder", "cls.predictions.bias",
        base + ".embeddings.word_embeddings.weight", b.sizes());
  };
  if (is_language_model(c)) return with_head(std::move(body), "MobileBertOnlyMLMHead", {});
  if (is_for(c, "ForPreTraining"))
    return with_head(std::move(body) + b.pooler(), "MobileBertPreTrainingHeads",
                     linear("seq_relationship", hidden, 2, Bias::yes));
  const bool pooled = is_for(c, "ForSequenceClassification") || is_for(c, "ForMultipleChoice");
  return in(base, model, pooled ? std::move(body) + b.pooler() : std::move(body)) +
         task_head(c, hidden);
}

}  // namespace headroom::model::families::mobilebert
