// Kimi-Audio (arXiv:2504.18425) as vLLM runs it, for transcription: Whisper's encoder, an adaptor
// and Qwen2. The layers that write sound are left out.
#include "model/describe/architectures/audio_towers.hpp"
#include "model/describe/architectures/composition.hpp"

namespace headroom::model::families::kimi_audio {

/// The tower is whisper-large-v3, in a folder of its own. Source: vLLM 0.33 kimi_audio.py.
Part kimi_audio(const Config& c) {
  const Config a = with_large_whisper_sizes(c.section_or_empty("whisper_config"));
  const Config text = with_class_defaults(c, "qwen2");
  const Submodel language = text_model(text, "qwen2");
  const Size seen = c.dim({"kimia_adaptor_input_dim"}, 5120), width = language.width;
  Part body = whisper_tower(a, "KimiAudioWhisper").as("audio_encoder") +
              in("vq_adaptor", "VQAdaptor",
                 in("layers", "ModuleList",
                    linear("0", seen, width, Bias::yes) + module("1", "SiLUActivation") +
                        module("2", "Dropout") + linear("3", width, width, Bias::yes) +
                        layer_norm("4", width)));
  return with_language_head(in("model", "MoonshotKimiaModel", language.part + std::move(body)),
                            text, head_is_tied(text, text, false, Inherit::no),
                            "model.embed_tokens.weight");
}

}  // namespace headroom::model::families::kimi_audio
