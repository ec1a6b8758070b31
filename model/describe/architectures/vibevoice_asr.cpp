// VibeVoice-ASR (arXiv:2508.19205). Two convolutional encoders read the samples: one for acoustics,
// one for meaning. Their outputs are projected to the width of a text model and added.
#include "model/describe/architectures/vibevoice_tokenizer.hpp"

namespace headroom::model::families::vibevoice_asr {

const std::string k = "VibeVoiceAcousticTokenizer", whole = "VibeVoiceAsr";

/// The head is never tied. Source: transformers 5.23, models/vibevoice_asr and
/// models/vibevoice_acoustic_tokenizer.
Part vibevoice_asr(const Config& c) {
  const std::string type = "vibevoice_acoustic_tokenizer_encoder";
  const Config text = section_of(c, "text_config", "qwen2");
  const Submodel sound =
      vibevoice_encoder(section_of(c, "acoustic_tokenizer_encoder_config", type));
  const Submodel sense =
      vibevoice_encoder(section_of(c, "semantic_tokenizer_encoder_config", type));
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

}  // namespace headroom::model::families::vibevoice_asr
