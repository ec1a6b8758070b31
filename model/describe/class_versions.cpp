// The table of versions.
//
// Source: the classes of transformers 4.46.3, 4.57.6, 5.0.0, 5.10.4 and 5.23.0, built on the meta
// device with one config each, 2026-11-21. Their module names, and parameter names inside blocks,
// were compared with those of 5.23.0. Names of GPT-J are those of 5.24.0. A class counts down to
// the oldest of these in which it and all between have the same names.
#include "model/describe/class_versions.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::model {
namespace {

struct VersionRow {
  std::string_view architecture;
  std::string_view blocks;  ///< names down to whole blocks
  std::string_view inside;  ///< and names inside blocks
};
constexpr VersionRow version_rows[] = {
    {"BartForConditionalGeneration", "4.46.3", "4.46.3"},
    {"BartModel", "4.46.3", "4.46.3"},
    {"BertForMaskedLM", "4.46.3", "4.46.3"},
    {"BertModel", "4.46.3", "4.46.3"},
    {"BloomForCausalLM", "4.46.3", "4.46.3"},
    {"CLIPModel", "4.46.3", "4.46.3"},
    {"Cohere2ForCausalLM", "4.57.6", "4.57.6"},
    {"CohereForCausalLM", "4.46.3", "4.57.6"},
    {"DbrxForCausalLM", "5.23", "5.23"},
    {"DebertaV2Model", "4.46.3", "4.46.3"},
    {"DeepseekV2ForCausalLM", "4.57.6", "5.0.0"},
    {"DeepseekV32ForCausalLM", "5.23", "5.23"},
    {"DeepseekV3ForCausalLM", "4.57.6", "5.0.0"},
    {"DistilBertForMaskedLM", "4.46.3", "4.46.3"},
    {"FalconForCausalLM", "4.46.3", "4.57.6"},
    {"GPT2LMHeadModel", "4.46.3", "4.46.3"},
    {"GPTBigCodeForCausalLM", "4.46.3", "4.57.6"},
    {"GPTJForCausalLM", "5.24", "5.24"},
    {"GPTNeoForCausalLM", "4.46.3", "4.46.3"},
    {"GPTNeoXForCausalLM", "5.23", "5.23"},
    {"Gemma2ForCausalLM", "4.57.6", "4.57.6"},
    {"Gemma3ForCausalLM", "5.0.0", "5.0.0"},
    {"Gemma3ForConditionalGeneration", "5.10.4", "5.10.4"},
    {"Gemma4ForConditionalGeneration", "5.10.4", "5.10.4"},
    {"GemmaForCausalLM", "4.57.6", "4.57.6"},
    {"Glm4MoeForCausalLM", "4.57.6", "5.0.0"},
    {"Glm4MoeLiteForCausalLM", "5.0.0", "5.0.0"},
    {"GlmForCausalLM", "4.46.3", "4.46.3"},
    {"GlmMoeDsaForCausalLM", "5.10.4", "5.10.4"},
    {"GptOssForCausalLM", "4.57.6", "4.57.6"},
    {"GraniteForCausalLM", "4.46.3", "4.46.3"},
    {"JambaForCausalLM", "4.46.3", "5.0.0"},
    {"Llama4ForConditionalGeneration", "5.10.4", "5.10.4"},
    {"LlamaForCausalLM", "4.46.3", "4.57.6"},
    {"LlavaForConditionalGeneration", "5.10.4", "5.10.4"},
    {"M2M100ForConditionalGeneration", "4.46.3", "4.46.3"},
    {"MT5ForConditionalGeneration", "5.0.0", "5.0.0"},
    {"Mamba2ForCausalLM", "4.46.3", "4.46.3"},
    {"MambaForCausalLM", "4.46.3", "4.46.3"},
    {"MiniMaxM2ForCausalLM", "5.0.0", "5.0.0"},
    {"Mistral3ForConditionalGeneration", "5.0.0", "5.0.0"},
    {"MistralForCausalLM", "4.57.6", "4.57.6"},
    {"MixtralForCausalLM", "4.57.6", "5.0.0"},
    {"MllamaForConditionalGeneration", "5.0.0", "5.0.0"},
    {"ModernBertForMaskedLM", "5.0.0", "5.0.0"},
    {"NemotronHForCausalLM", "5.10.4", "5.10.4"},
    {"OPTForCausalLM", "4.46.3", "4.46.3"},
    {"Olmo2ForCausalLM", "4.57.6", "4.57.6"},
    {"OlmoForCausalLM", "4.57.6", "4.57.6"},
    {"OlmoeForCausalLM", "4.46.3", "5.0.0"},
    {"PaliGemmaForConditionalGeneration", "5.10.4", "5.10.4"},
    {"Phi3ForCausalLM", "4.57.6", "4.57.6"},
    {"PhiForCausalLM", "5.10.4", "5.10.4"},
    {"PhimoeForCausalLM", "4.46.3", "5.10.4"},
    {"Qwen2ForCausalLM", "4.46.3", "4.57.6"},
    {"Qwen2MoeForCausalLM", "4.46.3", "5.0.0"},
    {"Qwen2VLForConditionalGeneration", "4.57.6", "5.0.0"},
    {"Qwen2_5_VLForConditionalGeneration", "4.57.6", "5.0.0"},
    {"Qwen3ForCausalLM", "4.57.6", "4.57.6"},
    {"Qwen3MoeForCausalLM", "4.57.6", "5.0.0"},
    {"Qwen3NextForCausalLM", "4.57.6", "5.23"},
    {"Qwen3VLForConditionalGeneration", "5.0.0", "5.0.0"},
    {"Qwen3VLMoeForConditionalGeneration", "5.10.4", "5.10.4"},
    {"Qwen3_5ForConditionalGeneration", "5.10.4", "5.23"},
    {"Qwen3_5MoeForConditionalGeneration", "5.10.4", "5.23"},
    {"RobertaForMaskedLM", "4.46.3", "4.46.3"},
    {"RwkvForCausalLM", "4.46.3", "4.46.3"},
    {"StableLmForCausalLM", "5.10.4", "5.10.4"},
    {"Starcoder2ForCausalLM", "4.46.3", "4.57.6"},
    {"T5ForConditionalGeneration", "5.0.0", "5.0.0"},
    {"WhisperForConditionalGeneration", "4.46.3", "4.46.3"},
    {"XLMRobertaForMaskedLM", "4.46.3", "4.46.3"},
};

}  // namespace

NamesSince names_of_class_since(std::string_view architecture) {
  const auto* row = std::ranges::find(version_rows, architecture, &VersionRow::architecture);
  return row == std::end(version_rows) ? NamesSince{} : NamesSince{row->blocks, row->inside};
}

}  // namespace headroom::model
