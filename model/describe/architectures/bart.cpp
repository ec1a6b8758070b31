// BART and the encoder-decoders that differ from it only in embeddings, positions and norms.
#include <array>

#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families::bart {

enum class Positions {
  learned,     ///< a trained table
  sinusoidal,  ///< a table that is not trained but kept as a parameter
  buffer,      ///< a table kept as a buffer
};

/// How a member of the family handles embeddings and norms. Source of each row: transformers 5.23,
/// models/<member>/modeling_<member>.py.
struct Style {
  std::string_view prefix;
  std::string_view word_embedding;  ///< class, after the prefix; empty: a plain Embedding
  Positions positions;
  Size offset;          ///< rows of the position table before position 0
  bool embedding_norm;  ///< layernorm_embedding
  bool final_norm;      ///< layer_norm
  bool logits_bias;     ///< final_logits_bias, a persistent buffer
  std::array<std::string_view, 3> no_split;
  LayerQuirks quirks{};
};
constexpr AttentionQuirks unrotated{.rotation = Rotation::none, .softmax_fp32 = false};
constexpr LayerQuirks pre_norm{.attention = unrotated};
constexpr LayerQuirks post_norm{.attention = unrotated, .norms_the_sum = true};
constexpr std::string_view scaled = "ScaledWordEmbedding";
constexpr std::array<std::string_view, 3> both{"EncoderLayer", "DecoderLayer"};
constexpr Style styles[] = {
    {"Bart", scaled, Positions::learned, 2, true, false, true, both, post_norm},
    {"MBart",
     scaled,
     Positions::learned,
     2,
     true,
     true,
     true,
     {"EncoderLayer", "DecoderLayer", "Attention"},
     pre_norm},
    {"PLBart", scaled, Positions::learned, 2, true, false, true, both, {.norms_the_sum = true}},
    {"M2M100", scaled, Positions::buffer, 2, false, true, false, both, pre_norm},
    {"Marian", "", Positions::sinusoidal, 0, false, false, true, {}, post_norm},
    {"Pegasus", "", Positions::sinusoidal, 0, false, true, true, {}, pre_norm},
    {"Blenderbot", scaled, Positions::learned, 0, false, true, true, {}, pre_norm},
    {"BlenderbotSmall", "", Positions::learned, 0, true, false, true, {}},
    {"Mvp", "", Positions::learned, 2, true, false, true, {}},
};

const Style& style_of(std::string_view class_name) {
  const Style* best = &styles[0];
  for (const Style& s : styles)  // the longest prefix: BlenderbotSmall before Blenderbot
    if (class_name.starts_with(s.prefix) &&
        (!class_name.starts_with(best->prefix) || s.prefix.size() > best->prefix.size()))
      best = &s;
  return *best;
}

class Builder {
 public:
  explicit Builder(const Config& c)
      : c_(c),
        style_(style_of(c.class_name())),
        hidden_(c.dim({"d_model"})),
        vocab_(c.dim({"vocab_size"})),
        positions_(c.dim({"max_position_embeddings"}, 1024)) {}

  std::string name(std::string_view rest) const { return join(style_.prefix, rest); }

  Part words(std::string_view scope, Size vocab) const {
    return embedding(scope, vocab, hidden_,
                     style_.word_embedding.empty() ? "Embedding" : name(style_.word_embedding));
  }

  Part position_table() const {
    const Size rows = positions_ + style_.offset;
    switch (style_.positions) {
      case Positions::learned:
        return embedding("embed_positions", rows, hidden_, name("LearnedPositionalEmbedding"));
      case Positions::sinusoidal:
        return embedding("embed_positions", rows, hidden_, name("SinusoidalPositionalEmbedding"));
      case Positions::buffer:
        break;
    }
    return in("embed_positions", name("SinusoidalPositionalEmbedding"),
              buffer("weights", {rows, hidden_}));
  }

  Part side(std::string_view scope, std::string_view class_name, Size vocab) const {
    const Seq2SeqSizes s = seq2seq_sizes(c_, scope);
    const bool decoder = scope == "decoder";
    Part p = words("embed_tokens", vocab) + position_table() +
             with_quirks(stack("layers", name(decoder ? "DecoderLayer" : "EncoderLayer"),
                               c_.dim({join(scope, "_layers")}),
                               [&] {
                                 return decoder ? seq2seq_decoder_layer(style_.prefix, s)
                                                : seq2seq_encoder_layer(style_.prefix, s);
                               }),
                         style_.quirks);
    if (style_.embedding_norm) p = std::move(p) + layer_norm("layernorm_embedding", hidden_);
    if (style_.final_norm) p = std::move(p) + layer_norm("layer_norm", hidden_);
    return in(scope, name(class_name), std::move(p));
  }

  /// Marian may have separate source and target vocabularies.
  bool shared() const { return c_.flag({"share_encoder_decoder_embeddings"}, true); }
  Size target_vocab() const { return shared() ? vocab_ : own_vocab(); }
  /// Rows of the decoder's embedding, unless it is tied to the shared one.
  Size own_vocab() const {
    return style_.prefix == "Marian" ? c_.dim({"decoder_vocab_size"}, vocab_) : vocab_;
  }
  bool is_tied() const { return c_.flag({"tie_word_embeddings"}, true); }

  Part body() const {
    if (c_.flag({"use_prompt"}, false))
      c_.fail("use_prompt", "found true; the prompts of MVP are not described");
    Part p = shared() ? words("shared", vocab_) : Part{};
    return std::move(p) + side("encoder", "Encoder", vocab_) +
           side("decoder", "Decoder", shared() && is_tied() ? vocab_ : own_vocab());
  }

  Part with_ties(Part part, const std::string& base) const {
    if (!is_tied() || !shared()) return part;
    part = tied(std::move(part), base + "encoder.embed_tokens.weight", base + "shared.weight");
    return tied(std::move(part), base + "decoder.embed_tokens.weight", base + "shared.weight");
  }

  Part with_head(Part part, std::string_view owner, Size rows) const {
    part = std::move(part) + output_head("lm_head", hidden_, rows);
    if (!is_tied()) return part;
    return tied(std::move(part), "lm_head.weight", owner);
  }

  Part whole(Part part) const {
    std::vector<std::string> classes;
    for (const auto suffix : style_.no_split)
      if (!suffix.empty()) classes.push_back(name(suffix));
    return unsplittable(std::move(part), std::move(classes));
  }
  Part logits_bias() const {
    return style_.logits_bias
               ? buffer("final_logits_bias", {1, target_vocab()}, Element::floating, true)
               : Part{};
  }
  Size hidden() const { return hidden_; }
  Size vocab() const { return vocab_; }

 private:
  const Config& c_;
  const Style& style_;
  Size hidden_, vocab_, positions_;
};

Part bart(const Config& c) {
  const Builder b(c);
  const std::string model = b.name("Model");
  if (c.class_name() == model) return b.with_ties(b.whole(b.body()), "");
  if (is_for(c, "ForCausalLM"))
    return b.with_head(
        b.whole(in("model", b.name("DecoderWrapper"), b.side("decoder", "Decoder", b.own_vocab()))),
        "model.decoder.embed_tokens.weight", b.is_tied() ? b.own_vocab() : b.vocab());
  Part p = b.with_ties(b.whole(in("model", model, b.body())), "model.");
  if (is_for(c, "ForSequenceClassification")) {
    const Size classes = c.has("num_labels") || c.has("id2label") ? labels(c) : 3;
    return std::move(p) + in("classification_head", b.name("ClassificationHead"),
                             linear("dense", b.hidden(), b.hidden(), Bias::yes) + dropout() +
                                 linear("out_proj", b.hidden(), classes, Bias::yes));
  }
  return b.with_head(std::move(p),
                     b.shared() ? "model.shared.weight" : "model.decoder.embed_tokens.weight",
                     b.target_vocab()) +
         b.logits_bias();
}

}  // namespace headroom::model::families::bart
