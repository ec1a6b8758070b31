// SeamlessM4T (arXiv:2308.11596, second version arXiv:2312.05187). It has a speech encoder, a text
// encoder and one text decoder. A second model turns the decoder's output into units of sound. A
// vocoder turns units into speech.
#include <boost/json.hpp>

#include "model/describe/architectures/conformer.hpp"
#include "model/describe/architectures/seq2seq_layer.hpp"

namespace headroom::model::families::seamless {

class Seamless {
 public:
  explicit Seamless(const Config& c)
      : c_(c),
        second_(c.class_name().starts_with("SeamlessM4Tv2")),
        hidden_(c.dim({"hidden_size"})),
        act_(activation_class(c, {"activation_function"}, "relu")) {}

  std::string k(std::string_view rest) const {
    return join(second_ ? "SeamlessM4Tv2" : "SeamlessM4T", rest);
  }

  Part words(std::string_view name) const {
    return embedding(name, c_.dim({"vocab_size"}), hidden_, k("ScaledWordEmbedding"));
  }

  Part text_encoder() const {
    return in("text_encoder", k("Encoder"),
              words("embed_tokens") + positions("max_position_embeddings") +
                  encoder_layers("encoder") + layer_norm("layer_norm", hidden_));
  }
  Part text_decoder() const {
    return in("text_decoder", k("Decoder"),
              words("embed_tokens") + positions("max_position_embeddings") +
                  decoder_layers("decoder") + layer_norm("layer_norm", hidden_));
  }

  Part speech_encoder() const {
    Conformer s{.k = k("Conformer"),
                .hidden = hidden_,
                .inner = c_.dim({"speech_encoder_intermediate_size"}, 4096),
                .kernel = c_.dim({"conv_depthwise_kernel_size"}, 31),
                .act = activation_class(c_, {"speech_encoder_hidden_act"}, "swish"),
                .conv_norm = second_ ? layer_norm("depthwise_layer_norm", hidden_)
                                     : batch_norm("batch_norm", "BatchNorm1d", hidden_)};
    const Size frames = c_.dim({"feature_projection_input_dim"}, 160);
    Part p = in("feature_projection", k("ConformerFeatureProjection"),
                layer_norm("layer_norm", frames) +
                    linear("projection", frames, hidden_, Bias::yes) + dropout());
    Part before = add_positions(s);
    p = std::move(p) +
        in("encoder", k("ConformerEncoder"),
           std::move(before) + dropout() +
               stack("layers", k("ConformerEncoderLayer"), c_.dim({"speech_encoder_layers"}, 24),
                     [&] { return conformer_layer(s); }) +
               layer_norm("layer_norm", hidden_)) +
        conformer_feed_forward(s, "intermediate_ffn", "ReLU");
    if (c_.flag({"add_adapter"}, true)) {
      const Part layer = conformer_adapter_layer(s, c_.dim({"adaptor_kernel_size"}, 8), "ReLU");
      p = std::move(p) +
          in("adapter", k("ConformerAdapter"),
             list("layers", c_.dim({"num_adapter_layers"}, 1), [&](const std::string& name, Size) {
               return in(name, k("ConformerAdapterLayer"), layer);
             }));
    }
    return in("speech_encoder", k("SpeechEncoder"),
              std::move(p) + layer_norm("inner_layer_norm", hidden_));
  }

  /// Text to units of sound. The first version writes one unit at a time, the second writes all at
  /// once.
  Part units() const {
    const Size vocab = c_.dim({"t2u_vocab_size"}, 10082);
    Part encoder = in("encoder", k("Encoder"),
                      encoder_layers("t2u_encoder") + layer_norm("layer_norm", hidden_));
    return in("t2u_model", k("TextToUnitForConditionalGeneration"),
              in("model", k("TextToUnitModel"),
                 std::move(encoder) + (second_ ? unit_writer(vocab) : unit_decoder(vocab))) +
                  output_head("lm_head", hidden_, vocab));
  }

  /// A vocoder (HiFi-GAN, arXiv:2010.05646). Its inputs are units, their durations, the speaker and
  /// the language.
  Part vocoder() const {
    const Size units = c_.dim({"unit_embed_dim"}, 1280), of = c_.dim({"lang_embed_dim"}, 256);
    const Size who = c_.dim({"spkr_embed_dim"}, 256);
    const auto ups = c_.dims({"upsample_kernel_sizes"}),
               blocks = c_.dims({"resblock_kernel_sizes"});
    const Size first = c_.dim({"upsample_initial_channel"}, 512);
    const auto levels = static_cast<Size>(ups.size());
    const auto kinds = static_cast<Size>(blocks.size());
    if (levels < 1 || levels > 16 || first >> levels < 1)
      c_.fail("upsample_kernel_sizes", "expected 1 to 16, each of which halves the channels");
    const auto strided = [&](const std::string& name, Size i) {
      return in(name, "ConvTranspose1d",
                tensor("weight", {first >> i, first >> (i + 1), ups[static_cast<std::size_t>(i)]},
                       Role::conv) +
                    tensor("bias", {first >> (i + 1)}, Role::bias));
    };
    const auto block = [&](const std::string& name, Size i) {
      const Size width = first >> (i / kinds + 1);
      const Size kernel = blocks[static_cast<std::size_t>(i % kinds)];
      const auto convolutions = [&](std::string_view list_name) {
        return list(list_name, dilations(i % kinds), [&](const std::string& each, Size) {
          return convolution(each, "Conv1d", {width, width, kernel}, Bias::yes);
        });
      };
      return in(name, "HifiGanResidualBlock", convolutions("convs1") + convolutions("convs2"));
    };
    return in(
        "vocoder", k("CodeHifiGan"),
        lasting("dur_predictor", units, units, c_.dim({"variance_predictor_kernel_size"}, 3)) +
            embedding("unit_embedding", c_.dim({"unit_hifi_gan_vocab_size"}, 10000), units) +
            embedding("speaker_embedding", c_.dim({"vocoder_num_spkrs"}, 200), who) +
            embedding("language_embedding", c_.dim({"vocoder_num_langs"}, 36), of) +
            in("hifi_gan", k("HifiGan"),
               convolution("conv_pre", "Conv1d", {first, units + of + who, 7}, Bias::yes) +
                   list("upsampler", levels, strided) +
                   list("resblocks", times({levels, kinds}), block) +
                   convolution("conv_post", "Conv1d", {1, first >> levels, 7}, Bias::yes)));
  }

  std::vector<std::string> whole_layers() const {
    std::vector<std::string> names{k("EncoderLayer"), k("DecoderLayer"),
                                   k("ConformerEncoderLayer")};
    if (second_) names.push_back(k("TextToUnitDecoderLayer"));
    return names;
  }

 private:
  Seq2SeqSizes sizes(const std::string& side) const {
    return {.hidden = hidden_,
            .inner = c_.dim({join(side, "_ffn_dim")}, 8192),
            .heads = c_.dim({join(side, "_attention_heads")}, 16),
            .act = act_};
  }
  Part positions(std::string_view key, std::string_view name = "embed_positions") const {
    return in(name, k("SinusoidalPositionalEmbedding"),
              buffer("weights", {c_.dim({key}) + 2, hidden_}));
  }
  Part feed_forward(const Seq2SeqSizes& s) const {
    return in("ffn", k("FeedForwardNetwork"),
              linear("fc1", hidden_, s.inner, Bias::yes) +
                  linear("fc2", s.inner, hidden_, Bias::yes) + dropout() + module("act", act_)) +
           layer_norm("ffn_layer_norm", hidden_) + dropout("ffn_dropout");
  }
  Part encoder_layers(const std::string& side) const {
    const Seq2SeqSizes s = sizes(side);
    return stack("layers", k("EncoderLayer"), c_.dim({join(side, "_layers")}), [&] {
      return seq2seq_attention("self_attn", k("Attention"), s) + dropout("attn_dropout") +
             layer_norm("self_attn_layer_norm", hidden_) + feed_forward(s);
    });
  }
  Part decoder_layers(const std::string& side) const {
    const Seq2SeqSizes s = sizes(side);
    return stack("layers", k("DecoderLayer"), c_.dim({join(side, "_layers")}), [&] {
      return cached_attention("self_attn", k("Attention"), s, CacheKind::self_attention) +
             module("activation_fn", act_) + dropout("attn_dropout") +
             layer_norm("self_attn_layer_norm", hidden_) +
             cached_attention("cross_attention", k("Attention"), s, CacheKind::cross_attention) +
             layer_norm("cross_attention_layer_norm", hidden_) + feed_forward(s);
    });
  }

  /// Distances between frames: a learned table for near frames, or sines for all. Returns the
  /// modules that the encoder registers. Stores the positions of its attention in `s`.
  Part add_positions(Conformer& s) const {
    const std::string type =
        c_.text({"position_embeddings_type"}, second_ ? "relative_key" : "relative");
    const Size heads = c_.dim({"speech_encoder_attention_heads"}, 16);
    if (type == "relative_key" && second_) {
      s.last_positions = embedding("distance_embedding",
                                   c_.dim({"left_max_position_embeddings"}, 64) +
                                       c_.dim({"right_max_position_embeddings"}, 8) + 1,
                                   hidden_ / heads);
      return {};
    }
    if (type != "relative" || second_)
      c_.fail("position_embeddings_type",
              "found '" + type + "', expected " + (second_ ? "relative_key" : "relative"));
    for (const auto name : {"pos_bias_u", "pos_bias_v"})
      s.first_positions =
          std::move(s.first_positions) + tensor(name, {heads, hidden_ / heads}, Role::bias);
    s.last_positions = linear("linear_pos", hidden_, hidden_);
    return in("embed_positions", k("ConformerRelPositionalEmbedding"),
              buffer("pe", {1, 2 * c_.dim({"max_source_positions"}, 4096) - 1, hidden_}));
  }

  Part unit_decoder(Size vocab) const {
    return in("decoder", k("Decoder"),
              embedding("embed_tokens", vocab, hidden_, k("ScaledWordEmbedding")) +
                  positions("t2u_max_position_embeddings") + decoder_layers("t2u_decoder") +
                  layer_norm("layer_norm", hidden_));
  }
  Part unit_writer(Size vocab) const {
    const Seq2SeqSizes s = sizes("t2u_decoder");
    const auto layer = [&] {
      return seq2seq_attention("self_attn", k("Attention"), s) +
             layer_norm("self_attn_layer_norm", hidden_) +
             convolution("conv1", "Conv1d", {hidden_, hidden_, 7}, Bias::yes) +
             module("activation_fn", act_) +
             convolution("conv2", "Conv1d", {hidden_, hidden_, 7}, Bias::yes) +
             layer_norm("conv_layer_norm", hidden_) + dropout("conv_dropout");
    };
    return in(
        "decoder", k("TextToUnitDecoder"),
        tensor("pos_emb_alpha_char", {1}, Role::other) + tensor("pos_emb_alpha", {1}, Role::other) +
            embedding("embed_tokens", vocab, hidden_) +
            embedding("embed_char", c_.dim({"char_vocab_size"}, 10943), hidden_) +
            positions("t2u_max_position_embeddings", "embed_char_positions") +
            lasting("duration_predictor", c_.dim({"t2u_variance_predictor_embed_dim"}, 1024),
                    c_.dim({"t2u_variance_predictor_hidden_dim"}, 256),
                    c_.dim({"t2u_variance_predictor_kernel_size"}, 3)) +
            positions("t2u_max_position_embeddings") +
            stack("layers", k("TextToUnitDecoderLayer"), c_.dim({"t2u_decoder_layers"}), layer) +
            layer_norm("layer_norm", hidden_));
  }

  /// Predicts the duration of each unit.
  Part lasting(std::string_view name, Size from, Size hidden, Size kernel) const {
    return in(name, k("VariancePredictor"),
              convolution("conv1", "Conv1d", {hidden, from, kernel}, Bias::yes) +
                  module("activation_function", "ReLU") + layer_norm("ln1", hidden) +
                  dropout("dropout_module") +
                  convolution("conv2", "Conv1d", {hidden, hidden, kernel}, Bias::yes) +
                  layer_norm("ln2", hidden) + linear("proj", hidden, 1, Bias::yes));
  }
  Size dilations(Size kind) const {
    const auto* all = c_.object().if_contains("resblock_dilation_sizes");
    const auto* lists = all != nullptr ? all->if_array() : nullptr;
    const auto at = static_cast<std::size_t>(kind);
    if (lists == nullptr || lists->size() <= at || !(*lists)[at].is_array())
      c_.fail("resblock_dilation_sizes", "expected a list for each of resblock_kernel_sizes");
    return static_cast<Size>((*lists)[at].as_array().size());
  }

  const Config& c_;
  bool second_;
  Size hidden_;
  std::string act_;
};

/// Source: transformers 5.23, models/seamless_m4t, models/seamless_m4t_v2.
Part seamless(const Config& c) {
  const Seamless model(c);
  const bool whole = is_for(c, "Model");
  const bool reads = whole || c.class_name().find("ForText") != std::string::npos;
  const bool hears = whole || c.class_name().find("ForSpeech") != std::string::npos;
  const bool speaks = whole || is_for(c, "ToSpeech");
  Part p = embedding("shared", c.dim({"vocab_size"}), c.dim({"hidden_size"}));
  if (reads) p = std::move(p) + model.text_encoder();
  if (hears) p = std::move(p) + model.speech_encoder();
  p = std::move(p) + model.text_decoder() +
      output_head("lm_head", c.dim({"hidden_size"}), c.dim({"vocab_size"}));
  if (speaks) p = std::move(p) + model.units() + model.vocoder();
  p = unsplittable(std::move(p), model.whole_layers());
  if (!c.flag({"tie_word_embeddings"}, true)) return p;
  if (reads) p = tied(std::move(p), "shared.weight", "text_encoder.embed_tokens.weight");
  p = tied(std::move(p), "shared.weight", "text_decoder.embed_tokens.weight");
  p = tied(std::move(p), "shared.weight", "lm_head.weight");
  return speaks ? tied(std::move(p), "t2u_model.model.decoder.embed_tokens.weight",
                       "t2u_model.lm_head.weight")
                : p;
}

}  // namespace headroom::model::families::seamless
