// Audio-language models: an audio encoder, a projector and a text model.
#include <boost/json.hpp>
#include <cmath>

#include "model/describe/architectures/audio_towers.hpp"

namespace headroom::model::families::audio_language {

constexpr std::string_view embedding_weight = "model.language_model.embed_tokens.weight";

Part two_layers(Size in_dim, Size out, const std::string& act, Bias bias) {
  return linear("linear_1", in_dim, out, bias) + module("act", act) +
         linear("linear_2", out, out, bias);
}

/// Source: transformers 5.23, models/qwen2_audio/modeling_qwen2_audio.py. The head is never tied.
Part qwen2_audio(const Config& c) {
  const Config text = section_of(c, "text_config", "qwen2");
  const Submodel audio =
      whisper_tower(section_of(c, "audio_config", "qwen2_audio_encoder"), "Qwen2Audio");
  const Submodel language = text_model(text);
  Part body = in("model", "Qwen2AudioModel",
                 audio.as("audio_tower") +
                     in("multi_modal_projector", "Qwen2AudioMultiModalProjector",
                        linear("linear", audio.width, language.width, Bias::yes)) +
                     language.as("language_model"));
  return with_language_head(with_unsplittable(std::move(body), {"Qwen2AudioAttention"}), text,
                            false, embedding_weight);
}

/// Source: transformers 5.23, models/voxtral/modeling_voxtral.py: four frames side by side.
Part voxtral(const Config& c) {
  // Keys missing in the section have the same defaults as in a missing section.
  const Config text = with_class_defaults(c.section_or_empty("text_config")
                                              .with_defaults({{"vocab_size", 131072},
                                                              {"hidden_size", 3072},
                                                              {"intermediate_size", 8192},
                                                              {"num_hidden_layers", 30},
                                                              {"num_key_value_heads", 8},
                                                              {"max_position_embeddings", 131072},
                                                              {"head_dim", 128},
                                                              {"model_type", "llama"}}),
                                          "llama");
  const Config a = section_of(c, "audio_config", "voxtral_encoder");
  const Submodel audio = whisper_tower(a, "Voxtral"), language = text_model(text);
  const std::string act = activation_class(c, {"projector_hidden_act"}, "gelu");
  return with_language_head(
      in("model", "VoxtralModel",
         audio.as("audio_tower") + language.as("language_model") +
             in("multi_modal_projector", "VoxtralMultiModalProjector",
                two_layers(a.dim({"intermediate_size"}), language.width, act, Bias::no))),
      text, false, embedding_weight);
}

/// Source: transformers 5.23, models/audioflamingo3, models/musicflamingo. Music Flamingo rotates a
/// fifth of the audio's width by the time in seconds, over rope_theta positions.
Part audio_flamingo(const Config& c) {
  const bool music = c.class_name().starts_with("Music");
  const std::string name = music ? "MusicFlamingo" : "AudioFlamingo3";
  const Config text = section_of(c, "text_config", "qwen2");
  const Config a =
      with_class_defaults(c.section_or_empty("audio_config"), "audioflamingo3_encoder");
  const Submodel audio = whisper_tower(a, "AudioFlamingo3"), language = text_model(text);
  Part projector =
      in("multi_modal_projector", name + "MultiModalProjector",
         linear("linear_1", audio.width, language.width, c.bias({"projector_bias"}, true)) +
             module("act", activation_class(c, {"projector_hidden_act"}, "gelu")) +
             linear("linear_2", language.width, language.width, c.bias({"projector_bias"}, true)));
  if (music) {
    const Config rope = c.section_or_empty("rope_parameters");
    const double share =
        rope.number({"partial_rotary_factor"}, c.number({"partial_rotary_factor"}, 0.2));
    const auto theta =
        static_cast<Size>(rope.number({"rope_theta"}, c.number({"rope_theta"}, 1200.0)));
    const Size half = (static_cast<Size>(share * static_cast<double>(audio.width)) + 1) / 2;
    projector =
        std::move(projector) + in("pos_emb", name + "RotaryEmbedding",
                                  buffer("inv_freq", {half}) + buffer("original_inv_freq", {half}) +
                                      buffer("position_angles", {theta, 2 * half}));
  }
  Part body = in("model", name + "Model",
                 audio.as("audio_tower") + language.as("language_model") + std::move(projector));
  if (!music) body = with_unsplittable(std::move(body), {"AudioFlamingo3Attention"});
  return with_language_head(std::move(body), text, false, embedding_weight);
}

/// Qwen3-ASR's tensors as its own repositories name them: all below "thinker", the projector as a
/// part of the tower. Source: vLLM 0.33 qwen3_asr.py, hf_to_vllm_mapper.
Part as_thinker(Part whole) {
  std::erase_if(whole.modules, [](const Module& m) {
    return m.path == "model" || m.path == "model.multi_modal_projector";
  });
  for (const auto& [from, to] :
       {std::pair{"model.audio_tower", "audio_tower"},
        std::pair{"model.multi_modal_projector.linear_1", "audio_tower.proj1"},
        std::pair{"model.multi_modal_projector.act", "audio_tower.act"},
        std::pair{"model.multi_modal_projector.linear_2", "audio_tower.proj2"},
        std::pair{"model.language_model", "model"}})
    whole = moved(std::move(whole), from, to);
  return in("thinker", "Qwen3ASRThinker", owners_at(std::move(whole), "thinker"));
}

/// Source: transformers 5.23, models/qwen3_asr/modeling_qwen3_asr.py. Qwen's own repositories have
/// the whole config in `thinker_config`, with a model_type of its own for the text.
Part qwen3_asr(const Config& given) {
  const std::string k = "Qwen3ASR";
  const bool wrapped = given.has("thinker_config");
  const Config c = wrapped ? given.section("thinker_config") : given;
  const Config text = with_class_defaults(c.section_or_empty("text_config"), "qwen3");
  const Config a = section_of(c, "audio_config", "qwen3_asr_encoder");
  const Submodel language = text_model(text, "qwen3");
  const Size width = a.dim({"d_model"});
  const Part tower = sine_table(a.dim({"max_position_embeddings"}, 13), width) +
                     whisper_layers(a, k + "Audio", Bias::yes) + layer_norm("ln_post", width) +
                     strided_convolutions(a);
  Part body = in("model", k + "Model",
                 in("audio_tower", k + "Encoder", tower) + language.as("language_model") +
                     in("multi_modal_projector", k + "MultiModalProjector",
                        linear("linear_1", width, width, Bias::yes) +
                            module("act", activation_class(a, {"activation_function"}, "gelu")) +
                            linear("linear_2", width, a.dim({"output_dim"}, 3584), Bias::yes)));
  Part whole = with_language_head(with_unsplittable(std::move(body), {k + "AudioEncoderLayer"}),
                                  text, head_is_tied(c, text, true, Inherit::no), embedding_weight);
  return wrapped ? as_thinker(std::move(whole)) : whole;
}

/// Source: transformers 5.23, models/moss_transcribe_diarize: Whisper's encoder, audio_merge_size
/// frames side by side.
Part moss_transcribe(const Config& c) {
  const std::string k = "MossTranscribeDiarize";
  const Config text = section_of(c, "text_config", "qwen3");
  const Config a = section_of(c, "audio_config", "moss_transcribe_diarize_audio");
  const Size width = a.dim({"hidden_size"}), seen = width * c.dim({"audio_merge_size"}, 4);
  const Bias bias = c.bias({"projector_bias"}, true);
  const Submodel language = text_model(text);
  Part tower = whisper_tower(a, k + "Audio").part;
  std::erase_if(tower.modules, [](const Module& m) { return m.path == "avg_pooler"; });
  tower = renamed(std::move(tower), k + "AudioEncoderLayer", k + "AudioLayer");
  Part body =
      in("model", k + "Model",
         in("audio_tower", k + "AudioModel", std::move(tower)) + language.as("language_model") +
             in("multi_modal_projector", k + "MultiModalProjector",
                two_layers(seen, language.width,
                           activation_class(c, {"projector_hidden_act"}, "silu"), bias) +
                    layer_norm("norm", language.width)));
  return with_language_head(std::move(body), text, head_is_tied(c, text, true, Inherit::no),
                            embedding_weight);
}

}  // namespace headroom::model::families::audio_language
