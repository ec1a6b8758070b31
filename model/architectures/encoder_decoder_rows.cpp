// The rows of encoder-decoder models, one block per file of this folder.
#include "model/architectures/encoder_families.hpp"
#include "model/architectures/rows.hpp"

namespace headroom::model::families {

namespace {

constexpr Architecture rows[] = {
    // t5.cpp
    {"T5Model", "t5", t5},
    {"T5EncoderModel", "t5", t5},
    {"T5ForConditionalGeneration", "t5", t5},
    {"MT5Model", "mt5", t5},
    {"MT5EncoderModel", "mt5", t5},
    {"MT5ForConditionalGeneration", "mt5", t5},
    {"UMT5Model", "umt5", t5},
    {"UMT5EncoderModel", "umt5", t5},
    {"UMT5ForConditionalGeneration", "umt5", t5},
    {"LongT5Model", "longt5", t5},
    {"LongT5EncoderModel", "longt5", t5},
    {"LongT5ForConditionalGeneration", "longt5", t5},
    // bart.cpp
    {"BartModel", "bart", bart},
    {"BartForConditionalGeneration", "bart", bart},
    {"BartForSequenceClassification", "bart", bart},
    {"BartForCausalLM", "bart", bart},
    {"MBartModel", "mbart", bart},
    {"MBartForConditionalGeneration", "mbart", bart},
    {"MBartForCausalLM", "mbart", bart},
    {"PLBartModel", "plbart", bart},
    {"PLBartForConditionalGeneration", "plbart", bart},
    {"PLBartForCausalLM", "plbart", bart},
    {"M2M100Model", "m2m_100", bart},
    {"M2M100ForConditionalGeneration", "m2m_100", bart},
    {"MarianModel", "marian", bart},
    {"MarianMTModel", "marian", bart},
    {"MarianForCausalLM", "marian", bart},
    {"PegasusModel", "pegasus", bart},
    {"PegasusForConditionalGeneration", "pegasus", bart},
    {"PegasusForCausalLM", "pegasus", bart},
    {"BlenderbotModel", "blenderbot", bart},
    {"BlenderbotForConditionalGeneration", "blenderbot", bart},
    {"BlenderbotForCausalLM", "blenderbot", bart},
    {"BlenderbotSmallModel", "blenderbot-small", bart},
    {"BlenderbotSmallForConditionalGeneration", "blenderbot-small", bart},
    {"BlenderbotSmallForCausalLM", "blenderbot-small", bart},
    {"MvpModel", "mvp", bart},
    {"MvpForConditionalGeneration", "mvp", bart},
    {"MvpForCausalLM", "mvp", bart},
    // whisper.cpp
    {"WhisperModel", "whisper", whisper},
    {"WhisperForConditionalGeneration", "whisper", whisper},
    {"WhisperForCausalLM", "whisper", whisper},
    // speech_seq2seq.cpp
    {"Speech2TextModel", "speech_to_text", speech_to_text},
    {"Speech2TextForConditionalGeneration", "speech_to_text", speech_to_text},
    {"MoonshineModel", "moonshine", moonshine},
    {"MoonshineForConditionalGeneration", "moonshine", moonshine},
    // parakeet.cpp
    {"ParakeetForCTC", "parakeet_ctc", parakeet_ctc},
    {"CanaryForConditionalGeneration", "canary", canary},
    {"CohereAsrForConditionalGeneration", "cohere_asr", cohere_asr},
    // t5.cpp
    {"UdopModel", "udop", udop},
    {"UdopForConditionalGeneration", "udop", udop},
    {"UdopEncoderModel", "udop", udop},
    // trocr.cpp
    {"TrOCRForCausalLM", "trocr", trocr},
    {"MusicgenForCausalLM", "musicgen_decoder", musicgen_decoder},
    {"MusicgenMelodyForCausalLM", "musicgen_melody_decoder", musicgen_decoder},
    // t5gemma.cpp
    {"T5GemmaForConditionalGeneration", "t5gemma", t5gemma},
    // encoder_decoder.cpp
    {"EncoderDecoderModel", "encoder-decoder", encoder_decoder},
    {"VisionEncoderDecoderModel", "vision-encoder-decoder", encoder_decoder,
     "how many patches its encoder sees, and where it merges them, is up to the encoder"},
    // fsmt.cpp
    {"FSMTModel", "fsmt", fsmt},
    {"FSMTForConditionalGeneration", "fsmt", fsmt},
    // prophetnet.cpp
    {"ProphetNetModel", "prophetnet", prophetnet},
    {"ProphetNetForConditionalGeneration", "prophetnet", prophetnet},
    {"ProphetNetForCausalLM", "prophetnet", prophetnet},
    // t5gemma2.cpp
    {"T5Gemma2Model", "t5gemma2", t5gemma2},
    {"T5Gemma2ForConditionalGeneration", "t5gemma2", t5gemma2},
    // long_seq2seq.cpp
    {"LEDModel", "led", long_seq2seq},
    {"LEDForConditionalGeneration", "led", long_seq2seq},
    {"PegasusXModel", "pegasus_x", long_seq2seq},
    {"PegasusXForConditionalGeneration", "pegasus_x", long_seq2seq},
    {"BigBirdPegasusModel", "bigbird_pegasus", long_seq2seq},
    {"BigBirdPegasusForConditionalGeneration", "bigbird_pegasus", long_seq2seq},
    // nllb_moe.cpp
    {"NllbMoeModel", "nllb-moe", nllb_moe},
    {"NllbMoeForConditionalGeneration", "nllb-moe", nllb_moe},
    // switch_transformers.cpp
    {"SwitchTransformersModel", "switch_transformers", switch_transformers},
    {"SwitchTransformersEncoderModel", "switch_transformers", switch_transformers},
    {"SwitchTransformersForConditionalGeneration", "switch_transformers", switch_transformers},
};

}  // namespace

std::span<const Architecture> encoder_decoder_rows() { return rows; }

}  // namespace headroom::model::families
