// VibeVoice-ASR (arXiv:2508.19205): two convolutional encoders over the samples themselves, one for
// how it sounds and one for what it means, projected into the width of a text model and added.
#include <boost/json.hpp>

#include "model/architectures/composition.hpp"
#include "model/architectures/vision_language_families.hpp"

namespace headroom::model::families {

namespace {

const std::string k = "VibeVoiceAcousticTokenizer", whole = "VibeVoiceAsr";

/// A convolution that sees the past alone; `seen` input channels for each output channel.
Part causal(std::string_view name, Size seen, Size to, Size kernel) {
  return in(name, k + "CausalConv1d", convolution("conv", "Conv1d", {to, seen, kernel}, Bias::yes));
}

/// ConvNeXt's layer over time: a convolution for each channel, and a feed-forward.
Part stage(const Config& a, Size width, Size depth) {
  const Size inner = times({a.dim({"ffn_expansion"}, 4), width});
  const std::string act = activation_class(a, {"hidden_act"}, "gelu");
  return list("stage", depth, [&](const std::string& name, Size) {
    return in(name, k + "ConvNext1dLayer",
              tensor("gamma", {width}, Role::other) + tensor("ffn_gamma", {width}, Role::other) +
                  rms_norm("norm", k + "RMSNorm", width) +
                  rms_norm("ffn_norm", k + "RMSNorm", width) +
                  in("ffn", k + "FeedForward",
                     linear("linear1", width, inner, Bias::yes) + module("activation", act) +
                         linear("linear2", inner, width, Bias::yes)) +
                  causal("mixer", 1, width, a.dim({"kernel_size"}, 7)));
  });
}

/// Each level has twice the channels of the one before, at a rate lower by its ratio.
Submodel encoder(const Config& a) {
  const auto ratios = a.dims({"downsampling_ratios"}), depths = a.dims({"depths"});
  const Size levels = static_cast<Size>(ratios.size()), first = a.dim({"num_filters"}, 32);
  const Size kernel = a.dim({"kernel_size"}, 7), out = a.dim({"hidden_size"});
  if (levels < 1 || levels > 16 || depths.size() != ratios.size() + 1)
    a.fail("depths", "expected one entry more than in downsampling_ratios, which has 1 to 16");
  const Part down = list("conv_layers", levels, [&](const std::string& name, Size i) {
    const auto at = static_cast<std::size_t>(i);
    if (ratios[at] < 1) a.fail("downsampling_ratios", "expected numbers from 1 on");
    return in(name, k + "EncoderLayer",
              causal("conv", first << i, first << (i + 1), 2 * ratios[at]) +
                  stage(a, first << (i + 1), depths[at + 1]));
  });
  return {k + "EncoderModel",
          in("stem", k + "EncoderStem",
             causal("conv", a.dim({"channels"}, 1), first, kernel) + stage(a, first, depths[0])) +
              down + causal("head", first << levels, out, kernel),
          out};
}

}  // namespace

/// The head is never tied. Source: transformers 5.23, models/vibevoice_asr and
/// models/vibevoice_acoustic_tokenizer.
Part vibevoice_asr(const Config& c) {
  const std::string type = "vibevoice_acoustic_tokenizer_encoder";
  const Config text = section_of(c, "text_config", "qwen2");
  const Submodel sound = encoder(section_of(c, "acoustic_tokenizer_encoder_config", type));
  const Submodel sense = encoder(section_of(c, "semantic_tokenizer_encoder_config", type));
  const Submodel language = text_model(text);
  const auto projection = [&](const std::string& name, Size from) {
    return linear(name + "_linear_1", from, language.width, Bias::yes) +
           rms_norm(name + "_norm", whole + "RMSNorm", language.width) +
           linear(name + "_linear_2", language.width, language.width, Bias::yes);
  };
  Part body = in("model", whole + "Model",
                 sound.as("acoustic_tokenizer_encoder") + sense.as("semantic_tokenizer_encoder") +
                     in("multi_modal_projector", whole + "MultiModalProjector",
                        projection("acoustic", sound.width) + projection("semantic", sense.width)) +
                     language.as("language_model"));
  return with_language_head(
      with_unsplittable(std::move(body), {k + "DecoderModel", k + "EncoderModel"}), text, false,
      "model.language_model.embed_tokens.weight");
}

}  // namespace headroom::model::families
