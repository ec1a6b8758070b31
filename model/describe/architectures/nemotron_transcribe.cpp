// Nemotron 3.5 Transcribe. Two encoders over stacked spectrogram frames precede Nemotron-H. One
// recognises words, the other separates speakers. A small third encoder times the words.
#include "model/describe/architectures/composition.hpp"
#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::nemotron_transcribe {

enum class HeadNorm : bool { no, yes };

/// Class names of an encoder: `family` + "Attention" and so on. `layer` names the class of the
/// layers.
struct Encoder {
  std::string family, layer;
  HeadNorm head_norm;
  double rotated;  ///< default share of a head, if rope_parameters do not give it
};

/// Layers between two norms, and the rotary table. There are as many values as queries, even with
/// fewer keys.
Part encoder_layers(const Config& a, const Encoder& e) {
  const Size hidden = a.dim({"hidden_size"}), inner = a.dim({"intermediate_size"});
  const Heads h = heads_of(a, {});
  const std::string act = activation_class(a, {"hidden_act"}, "gelu");
  Part attention = linear("q_proj", hidden, h.query * h.dim) +
                   linear("k_proj", hidden, h.kv * h.dim) +
                   linear("v_proj", hidden, h.query * h.dim) +
                   linear("o_proj", h.query * h.dim, hidden, Bias::yes);
  if (e.head_norm == HeadNorm::yes)
    attention = std::move(attention) + layer_norm("q_norm", h.dim) + layer_norm("k_norm", h.dim);
  return layer_norm("input_layer_norm", hidden) +
         stack("layers", e.layer, a.dim({"num_hidden_layers"}),
               [&] {
                 return in("self_attn", e.family + "Attention", attention) +
                        layer_norm("layer_norm1", hidden) +
                        in("mlp", e.family + "MLP",
                           module("activation_fn", act) + linear("fc1", hidden, inner, Bias::yes) +
                               linear("fc2", inner, hidden, Bias::yes)) +
                        layer_norm("layer_norm2", hidden);
               }) +
         layer_norm("layer_norm", hidden) +
         rotary(e.family + "RotaryEmbedding", rotated_dims(a, h.dim, e.rotated));
}

/// The projection of `subsampling_factor` concatenated frames.
Part stacked_frames(const Config& a, const std::string& family) {
  return in("embedder", family + "FeatureStacking",
            linear("projection", a.dim({"subsampling_factor"}, 8) * a.dim({"num_mel_bins"}, 128),
                   a.dim({"hidden_size"})));
}

/// Source: transformers 5.23, models/nemotron3_diarization.
Part diarization(const Config& d) {
  const std::string k = "Nemotron3Diarization";
  const Config a = section_of(d, "audio_config", "nemotron3_diarization_audio");
  const Config head = d.section_or_empty("head_config");
  const Size hidden = head.dim({"hidden_size"}, 192);
  const Size factor = head.dim({"subsampling_factor"}, 8);
  return tensor("silence_embeds", {a.dim({"hidden_size"})}, Role::other) +
         in("model", k + "Model",
            in("audio_tower", k + "AudioModel",
               stacked_frames(a, k) + encoder_layers(a, {k, k + "AudioLayer", HeadNorm::no, 1.0})) +
                linear("proj", head.dim({"audio_hidden_size"}, 512), hidden, Bias::yes) +
                in("upsampler", k + "SubpixelUpsampler",
                   convolution("conv", "Conv1d", {times({hidden, factor}), hidden, 3},
                               Bias::yes))) +
         in("classifier", k + "ClassificationHead",
            linear("dense", hidden, hidden, Bias::yes) +
                linear("out_proj", hidden, head.dim({"num_speakers"}, 8), Bias::yes) +
                module("act_fn", "ReLU"));
}

/// Half of each head is rotated. If the config gives rope_parameters without a share, the whole
/// head is rotated.
Encoder transcribing(const Config& a) {
  const std::string k = "Nemotron3_5Transcribe";
  return {k, k + "AsrAudioLayer", HeadNorm::yes,
          a.has("rope_parameters") || a.has("rope_scaling") ? 1.0 : 0.5};
}

/// Source: transformers 5.23, models/nemotron3_5_transcribe.
Part nemotron_transcribe(const Config& c) {
  const std::string k = "Nemotron3_5Transcribe";
  const Config text = section_of(c, "text_config", "nemotron_h");
  const Config audio = section_of(c, "audio_config", "nemotron3_5_transcribe_audio");
  const Config words =
      section_of(c, "word_timestamp_config", "nemotron3_5_transcribe_word_timestamp");
  const Config a = section_of(audio, "asr_config", "nemotron3_5_transcribe_asr_audio");
  const Config d = section_of(audio, "diarization_config", "nemotron3_diarization");
  const Submodel language = text_model(text);
  const Size width = a.dim({"hidden_size"}), timed = words.dim({"hidden_size"});
  const Size speakers = d.section_or_empty("head_config").dim({"num_speakers"}, 8);
  const Part tower =
      in("asr_encoder", k + "AsrAudioModel",
         stacked_frames(a, k) + encoder_layers(a, transcribing(a))) +
      in("diarization_model", "Nemotron3DiarizationForAudioFrameClassification", diarization(d)) +
      layer_norm("asr_norm", width) + layer_norm("speaker_norm", speakers) +
      in("speaker_embedding", k + "SpeakerEmbedding", buffer("weight", {speakers, width}));
  const Size factor = words.dim({"upsampling_factor"}, 2);
  const Part timing = in("upsampler", "ConvTranspose1d",
                         tensor("weight", {timed, timed, factor}, Role::conv) +
                             tensor("bias", {timed}, Role::bias)) +
                      encoder_layers(words, transcribing(words));
  Part body = in("model", k + "Model",
                 in("audio_tower", k + "AudioModel", tower) + language.as("language_model") +
                     linear("multi_modal_projector", width, language.width, Bias::yes) +
                     in("word_timestamp_encoder", k + "WordTimestampModel", timing));
  return with_language_head(with_unsplittable(std::move(body), {"Nemotron3DiarizationAudioLayer",
                                                                k + "AsrAudioLayer"}),
                            text, false, "") +
         convolution("word_timestamp_head", "Conv1d", {words.dim({"vocab_size"}), timed, 1},
                     Bias::yes);
}

}  // namespace headroom::model::families::nemotron_transcribe
