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
    {"M2M100Model", "m2m_100", bart},
    {"M2M100ForConditionalGeneration", "m2m_100", bart},
    {"MarianModel", "marian", bart},
    {"MarianMTModel", "marian", bart},
    {"PegasusModel", "pegasus", bart},
    {"PegasusForConditionalGeneration", "pegasus", bart},
    {"BlenderbotModel", "blenderbot", bart},
    {"BlenderbotForConditionalGeneration", "blenderbot", bart},
    {"BlenderbotSmallModel", "blenderbot-small", bart},
    {"BlenderbotSmallForConditionalGeneration", "blenderbot-small", bart},
    {"BlenderbotSmallForCausalLM", "blenderbot-small", bart},
    {"MvpModel", "mvp", bart},
    {"MvpForConditionalGeneration", "mvp", bart},
    // whisper.cpp
    {"WhisperModel", "whisper", whisper},
    {"WhisperForConditionalGeneration", "whisper", whisper},
    // t5gemma.cpp
    {"T5GemmaForConditionalGeneration", "t5gemma", t5gemma},
    // encoder_decoder.cpp
    {"EncoderDecoderModel", "encoder-decoder", encoder_decoder},
    // prophetnet.cpp
    {"ProphetNetForCausalLM", "prophetnet", prophetnet},
    // t5gemma2.cpp
    {"T5Gemma2ForConditionalGeneration", "t5gemma2", t5gemma2},
};

}  // namespace

std::span<const Architecture> encoder_decoder_rows() { return rows; }

}  // namespace headroom::model::families
