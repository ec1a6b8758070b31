// Apertus: an activation with trained parameters, and norms on queries and keys. Apertus 1.5 reads
// images and sound as tokens. A VQGAN (arXiv:2012.09841) and WavTokenizer (arXiv:2408.16532) make
// them.
#include <algorithm>

#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"
#include "model/describe/architectures/vq_autoencoder.hpp"

namespace headroom::model::families::apertus {

/// xIELU (arXiv:2411.13010): two learned and two fixed numbers.
Part xielu() {
  return in("act_fn", "XIELUActivation",
            tensor("alpha_p", {1}, Role::other) + tensor("alpha_n", {1}, Role::other) +
                buffer("beta", {}, Element::floating, true) +
                buffer("eps", {}, Element::floating, true));
}

Part decoder_body(const Config& c, Classes k) {
  const bool learned = c.text({"hidden_act"}, "xielu") == "xielu";
  const Size hidden = c.dim({"hidden_size"});
  const Common s{hidden, c.dim({"intermediate_size"}), c.dim({"num_hidden_layers"}),
                 heads_of(c, {}), learned ? "" : activation_class(c, {"hidden_act"}, "silu")};
  const Part act = learned ? xielu() : module("act_fn", s.act);
  const Bias b = c.bias({"attention_bias"}, false);
  return trunk(c, k, rotated_if_scaled(c, s.heads.dim), [&] {
    return in("self_attn", k("Attention"),
              attention(hidden, s.heads, b, b) + head_norms(k("RMSNorm"), s.heads.dim)) +
           in("mlp", k("MLP"), up_down_mlp(s, act, Bias::no)) +
           rms_norm("attention_layernorm", k("RMSNorm"), hidden) +
           rms_norm("feedforward_layernorm", k("RMSNorm"), hidden);
  });
}

/// Source: transformers 5.24, models/apertus/{configuration,modeling}_apertus.py.
Part apertus_trunk(const Config& c) { return decoder_body(c, Classes{"Apertus"}); }
Part apertus(const Config& c) { return causal_lm(c, "ApertusModel", apertus_trunk(c)); }

// ---- Apertus 1.5 --------------------------------------------------------------------------------

constexpr Classes text_classes{"Apertus1p5Text"};

/// `body` with a head that may leave out the rows of images and sound. A tied head has all rows.
Part with_short_head(Part body, const Config& text, bool is_tied, std::string_view embedding) {
  if (is_tied) return with_language_head(std::move(body), text, true, embedding);
  const Size vocab = text.dim({"vocab_size"}), rows = text.dim({"output_vocab_size"}, vocab);
  if (rows > vocab)
    text.fail("output_vocab_size", "found more rows than vocab_size, " + std::to_string(vocab));
  return std::move(body) + output_head("lm_head", text.dim({"hidden_size"}), rows);
}

/// The encoder of images and its codebook.
Part image_codes(const Config& v) {
  const std::string k = "Apertus1p5VisionTokenizer";
  const VqClasses names{k + "ResnetBlock", k + "AttnBlock",    k + "Downsample",  "",
                        k + "MiddleBlock", k + "EncoderStage", k + "EncoderBlock"};
  const Size latent = v.dim({"latent_channels"}, 256), embed = v.dim({"embed_dim"}, 256);
  const auto sides = v.dims({"attn_resolutions"});
  const Size side = v.dim({"resolution"}, 256);
  const auto attends = [&](Size level) {
    return std::find(sides.begin(), sides.end(), side >> level) != sides.end();
  };
  return in("encoder", k + "Encoder", vq_encoder(v, names, attends)) +
         in("quantize", k + "VectorQuantizer",
            linear("embedding", embed, v.dim({"codebook_size"}, 131072))) +
         image_convolution("quant_conv", latent, embed, 1);
}

/// A convolution over time. Its weight is stored as a length and a direction (weight norm), or a
/// group norm follows.
Part sound_convolution(const Config& a, std::string_view name, Size from, Size to, Size kernel) {
  const std::string norm = a.text({"norm_type"}, "weight_norm");
  if (norm != "weight_norm" && norm != "time_group_norm")
    a.fail("norm_type", "found \"" + norm + "\", expected weight_norm or time_group_norm");
  Part conv;
  if (norm == "weight_norm")
    conv = in("conv", "ParametrizedConv1d",
              tensor("bias", {to}, Role::bias) +
                  in("parametrizations", "ModuleDict",
                     in("weight", "ParametrizationList",
                        tensor("original0", {to, 1, 1}, Role::other) +
                            tensor("original1", {to, from, kernel}, Role::conv) +
                            module("0", "_WeightNorm"))));
  else
    conv = convolution("conv", "Conv1d", {to, from, kernel}, Bias::yes) +
           in("norm", "GroupNorm",
              tensor("weight", {to}, Role::norm) + tensor("bias", {to}, Role::norm));
  return in(name, "WavTokenizerConv1d",
            buffer("stride", {}, Element::int64) + buffer("kernel_size", {}, Element::int64) +
                buffer("padding_total", {}, Element::int64) + std::move(conv));
}

Part sound_block(const Config& a, std::string_view name, Size width) {
  const Size inner = width / a.dim({"compress"}, 2);
  return in(
      name, "WavTokenizerResnetBlock",
      in("block", "ModuleList",
         module("0", "ELU") +
             sound_convolution(a, "1", width, inner, a.dim({"residual_kernel_size"}, 3)) +
             module("2", "ELU") + sound_convolution(a, "3", inner, width, 1)) +
          (a.flag({"use_conv_shortcut"}, true) ? sound_convolution(a, "shortcut", width, width, 1)
                                               : module("shortcut", "Identity")));
}

/// The encoder of sound and its codebook. Source: transformers 5.24, models/wavtokenizer.
Part sound_codes(const Config& a) {
  auto ratios = a.dims({"upsampling_ratios"});
  std::reverse(ratios.begin(), ratios.end());
  const Size out = a.dim({"hidden_size"}, 512), residual = a.count({"num_residual_layers"}, 1);
  if (ratios.size() > 16 || residual > 64) a.fail("upsampling_ratios", "more than are supported");
  Size width = a.dim({"num_filters"}, 32), count = 0;
  const auto next = [&] { return std::to_string(count++); };
  Part layers =
      sound_convolution(a, next(), a.dim({"audio_channels"}, 1), width, a.dim({"kernel_size"}, 7));
  for (const Size ratio : ratios) {
    for (Size i = 0; i < residual; ++i) layers = std::move(layers) + sound_block(a, next(), width);
    layers = std::move(layers) + module(next(), "ELU");
    layers = std::move(layers) + sound_convolution(a, next(), width, 2 * width, 2 * ratio);
    width *= 2;
  }
  layers = std::move(layers) +
           in(next(), "WavTokenizerLSTM", lstm("lstm", width, a.dim({"num_lstm_layers"}, 2)));
  layers = std::move(layers) + module(next(), "ELU");
  layers =
      std::move(layers) + sound_convolution(a, next(), width, out, a.dim({"last_kernel_size"}, 7));
  const Size codes = a.dim({"codebook_size"}, 4096), dim = a.dim({"codebook_dim"}, 512);
  const auto kept = [](std::string_view name, Shape shape) {
    return buffer(name, std::move(shape), Element::floating, true);
  };
  return in("encoder", "WavTokenizerEncoder", in("layers", "ModuleList", std::move(layers))) +
         in("quantizer", "WavTokenizerVectorQuantization",
            in("codebook", "WavTokenizerEuclideanCodebook",
               kept("inited", {1}) + kept("cluster_size", {codes}) + kept("embed", {codes, dim}) +
                   kept("embed_avg", {codes, dim})));
}

/// Source: transformers 5.24, models/apertus1p5/{configuration,modeling}_apertus1p5.py.
Part apertus1p5_text(const Config& c) {
  return with_short_head(in("model", text_classes("Model"), decoder_body(c, text_classes)), c,
                         c.flag({"tie_word_embeddings"}, false), "model.embed_tokens.weight");
}

/// Both encoders stay in fp32 whatever the type of the rest.
Part apertus1p5(const Config& c) {
  const Config text = section_of(c, "text_config", "apertus1p5_text");
  const Config v = section_of(c, "vision_config", "apertus1p5_vision_tokenizer");
  const Config a = section_of(c, "audio_config", "wavtokenizer_encoder");
  Part body =
      in("model", "Apertus1p5Model",
         in("language_model", text_classes("Model"), decoder_body(text, text_classes)) +
             in_fp32(in("vision_tokenizer", "Apertus1p5VisionTokenizerModel", image_codes(v)) +
                     in("audio_tokenizer", "WavTokenizerEncoderModel", sound_codes(a))));
  return with_short_head(with_unsplittable(std::move(body), {"Apertus1p5VisionTokenizerResnetBlock",
                                                             "Apertus1p5VisionTokenizerAttnBlock"}),
                         text, head_is_tied(c, text, false, Inherit::no),
                         "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families::apertus
