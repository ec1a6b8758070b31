// The rows of models that hear or speak and are no text model with a tower.
#include "model/architectures/rows.hpp"
#include "model/architectures/speech_families.hpp"

namespace headroom::model::families {

namespace {

constexpr std::string_view speaks_after =
    "what it writes goes on through a model of units of sound and a vocoder";
constexpr std::string_view word_by_word =
    "behind the encoder a small recurrent network writes word by word";
constexpr std::string_view guided = "it runs twice a token, with the text and without (guidance)";
constexpr std::string_view patches_of_bytes =
    "how many bytes a run of its large part covers depends on the text";

constexpr Architecture rows[] = {
    // wav2vec2.cpp
    {"Wav2Vec2Model", "wav2vec2", wav2vec2},
    {"Wav2Vec2ForCTC", "wav2vec2", wav2vec2},
    {"Wav2Vec2ForPreTraining", "wav2vec2", wav2vec2},
    {"Wav2Vec2ForSequenceClassification", "wav2vec2", wav2vec2},
    {"Wav2Vec2ForAudioFrameClassification", "wav2vec2", wav2vec2},
    {"Wav2Vec2ForXVector", "wav2vec2", wav2vec2},
    {"HubertModel", "hubert", wav2vec2},
    {"HubertForCTC", "hubert", wav2vec2},
    {"HubertForSequenceClassification", "hubert", wav2vec2},
    {"WavLMModel", "wavlm", wav2vec2},
    {"WavLMForCTC", "wavlm", wav2vec2},
    {"WavLMForSequenceClassification", "wavlm", wav2vec2},
    {"WavLMForAudioFrameClassification", "wavlm", wav2vec2},
    {"WavLMForXVector", "wavlm", wav2vec2},
    {"UniSpeechModel", "unispeech", wav2vec2},
    {"UniSpeechForCTC", "unispeech", wav2vec2},
    {"UniSpeechForSequenceClassification", "unispeech", wav2vec2},
    {"UniSpeechSatModel", "unispeech-sat", wav2vec2},
    {"UniSpeechSatForCTC", "unispeech-sat", wav2vec2},
    {"UniSpeechSatForSequenceClassification", "unispeech-sat", wav2vec2},
    {"UniSpeechSatForAudioFrameClassification", "unispeech-sat", wav2vec2},
    {"UniSpeechSatForXVector", "unispeech-sat", wav2vec2},
    // wav2vec2_bert.cpp
    {"Wav2Vec2BertModel", "wav2vec2-bert", wav2vec2_bert},
    {"Wav2Vec2BertForCTC", "wav2vec2-bert", wav2vec2_bert},
    // transducers.cpp
    {"ParakeetForRNNT", "parakeet_rnnt", transducer, word_by_word},
    {"ParakeetForTDT", "parakeet_tdt", transducer, word_by_word},
    {"NemotronAsrStreamingForRNNT", "nemotron_asr_streaming", transducer, word_by_word},
    {"Nemotron3_5AsrForRNNT", "nemotron3_5_asr", transducer, word_by_word},
    // seamless.cpp
    {"SeamlessM4TForTextToText", "seamless_m4t", seamless},
    {"SeamlessM4TForSpeechToText", "seamless_m4t", seamless},
    {"SeamlessM4TForTextToSpeech", "seamless_m4t", seamless, speaks_after},
    {"SeamlessM4TForSpeechToSpeech", "seamless_m4t", seamless, speaks_after},
    {"SeamlessM4TModel", "seamless_m4t", seamless, speaks_after},
    {"SeamlessM4Tv2ForTextToText", "seamless_m4t_v2", seamless},
    {"SeamlessM4Tv2ForSpeechToText", "seamless_m4t_v2", seamless},
    {"SeamlessM4Tv2ForTextToSpeech", "seamless_m4t_v2", seamless, speaks_after},
    {"SeamlessM4Tv2ForSpeechToSpeech", "seamless_m4t_v2", seamless, speaks_after},
    {"SeamlessM4Tv2Model", "seamless_m4t_v2", seamless, speaks_after},
    // csm.cpp
    {"CsmForConditionalGeneration", "csm", csm,
     "a second decoder writes the other codes of each frame, token by token"},
    {"KyutaiSpeechToTextForConditionalGeneration", "kyutai_speech_to_text", kyutai_stt,
     "a codec hears beside it, frame by frame"},
    // dia.cpp
    {"DiaModel", "dia", dia, guided},
    {"DiaForConditionalGeneration", "dia", dia, guided},
    // higgs_audio.cpp
    {"HiggsAudioV2ForConditionalGeneration", "higgs_audio_v2", higgs_audio,
     "each token runs through one of two feed-forwards, by whether it is text or sound"},
    // vibevoice.cpp
    {"VibeVoiceForConditionalGeneration", "vibevoice", vibevoice,
     "a diffusion model makes each frame of speech in several steps, and encoders hear it again"},
    // blt.cpp
    {"BltForCausalLM", "blt", blt, patches_of_bytes},
    {"BltModel", "blt", blt, patches_of_bytes},
};

}  // namespace

std::span<const Architecture> speech_rows() { return rows; }

}  // namespace headroom::model::families
