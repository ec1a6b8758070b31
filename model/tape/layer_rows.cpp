#include "model/tape/layer_rows.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::model::layer_rows {
namespace {

struct Norm {
  std::string_view class_name;
  NormKind kind;
};
constexpr Norm norms[] = {
    {"LayerNorm", NormKind::layer},
    {"OlmoLayerNorm", NormKind::layer_fp32},
    {"NemotronLayerNorm1P", NormKind::layer_plus_1},
    {"CohereLayerNorm", NormKind::written_out},
    {"Cohere2LayerNorm", NormKind::written_out},
    {"Cohere2MoeLayerNorm", NormKind::written_out},
    {"T5LayerNorm", NormKind::rms_residual},
    {"MT5LayerNorm", NormKind::rms_residual},
    {"UMT5LayerNorm", NormKind::rms_residual},
    {"LongT5LayerNorm", NormKind::rms_residual},
    {"SwitchTransformersLayerNorm", NormKind::rms_residual},
    {"AfmoeRMSNorm", NormKind::rms_fp32},
    {"DeepseekV4RMSNorm", NormKind::rms_fp32},
    {"FlexOlmoRMSNorm", NormKind::rms_fp32},
    {"FlintRMSNorm", NormKind::rms_fp32},
    {"GptOssRMSNorm", NormKind::rms_fp32},
    {"Olmo2RMSNorm", NormKind::rms_fp32},
    {"Olmo3RMSNorm", NormKind::rms_fp32},
    {"OlmoHybridRMSNorm", NormKind::rms_fp32},
    {"HeliumRMSNorm", NormKind::rms_raised},
    {"NemotronHRMSNorm", NormKind::rms_raised},
    {"MoshiRMSNorm", NormKind::rms_raised},
    {"Gemma4RMSNorm", NormKind::rms_raised},
    {"GemmaRMSNorm", NormKind::rms_plus_1},
    {"Gemma2RMSNorm", NormKind::rms_plus_1},
    {"Gemma3RMSNorm", NormKind::rms_plus_1},
    {"MiniMaxM3VLRMSNorm", NormKind::rms_plus_1},
    {"Qwen3NextRMSNorm", NormKind::rms_plus_1},
    {"Qwen3_5RMSNorm", NormKind::rms_plus_1},
    {"Qwen3_5MoeRMSNorm", NormKind::rms_plus_1},
    {"RecurrentGemmaRMSNorm", NormKind::rms_plus_1},
    {"T5GemmaRMSNorm", NormKind::rms_plus_1},
    {"VaultGemmaRMSNorm", NormKind::rms_plus_1},
    {"Llama4TextRMSNorm", NormKind::rms_late},
    {"Llama4TextL2Norm", NormKind::rms_plain},
    {"HrmTextRMSNorm", NormKind::rms_plain},
    {"NanoChatRMSNorm", NormKind::rms_plain},
};

// nn.functional.gelu and silu keep their input; what is written out in Python keeps every step.
struct Activation {
  std::string_view class_name;
  ActivationKind kind;
};
constexpr Activation activations[] = {
    {"ReLU", ActivationKind::result},
    {"ReLU6", ActivationKind::result},
    {"Sigmoid", ActivationKind::result},
    {"Tanh", ActivationKind::result},
    {"ReLUSquaredActivation", ActivationKind::squared_relu},
    {"NewGELUActivation", ActivationKind::tanh_written_out},
    {"FastGELUActivation", ActivationKind::tanh_written_out},
    {"QuickGELUActivation", ActivationKind::sigmoid_product},
};

constexpr AttentionRow attentions[] = {
    {"Bamba", Rotation::concatenated},
    {"Glm", Rotation::concatenated},
    {"Glm4", Rotation::concatenated},
    {"Glm4Moe", Rotation::concatenated},
    {"Glm4v", Rotation::concatenated},
    {"Glm4vText", Rotation::concatenated},
    {"Glm4vMoe", Rotation::concatenated},
    {"GPTNeoX", Rotation::concatenated},
    {"Laguna", Rotation::concatenated},
    {"MiMoV2Flash", Rotation::concatenated},
    {"MiniMaxM2", Rotation::concatenated},
    {"MiniMaxM3VL", Rotation::concatenated},
    {"Nemotron", Rotation::concatenated},
    {"Persimmon", Rotation::concatenated},
    {"Phi", Rotation::concatenated},
    {"Phi3", Rotation::concatenated},
    {"Qwen3Next", Rotation::concatenated},
    {"Qwen3_5", Rotation::concatenated},
    {"Qwen3_5Moe", Rotation::concatenated},
    {"RecurrentGemma", Rotation::concatenated},
    {"StableLm", Rotation::concatenated},
    {"Cohere", Rotation::widened},
    {"Cohere2", Rotation::widened},
    {"Cohere2Moe", Rotation::widened},
    {"Ernie4_5", Rotation::widened},
    {"Ernie4_5_Moe", Rotation::widened},
    {"FlexOlmo", Rotation::widened, true},
    {"Olmo", Rotation::widened, true},
    {"Olmo2", Rotation::widened, true},
    {"Olmo3", Rotation::widened, true},
    {"GptOss", Rotation::halves, false, false},
    {"Falcon", Rotation::added, false, false},
    {"GPT2", Rotation::none, false, false},
    {"GPTBigCode", Rotation::none},
    {"Bert", Rotation::none, false, false},
    {"Roberta", Rotation::none, false, false},
    {"XLMRoberta", Rotation::none, false, false},
    {"Camembert", Rotation::none, false, false},
    {"Electra", Rotation::none, false, false},
    {"Bloom", Rotation::none, false, true, true},
    {"Mpt", Rotation::none, false, true, true},
    {"GPTNeo", Rotation::none, false, true, true},
    {"GPTJ", Rotation::concatenated, false, false, true},
    {"CodeGen", Rotation::concatenated, false, false, true},
    {"OPT", Rotation::none},
    {"BioGpt", Rotation::none},
    {"T5", Rotation::none, false, false},
    {"MT5", Rotation::none, false, false},
    {"Bart", Rotation::none, false, false},
    {"MBart", Rotation::none, false, false},
    {"Pegasus", Rotation::none, false, false},
    {"Marian", Rotation::none, false, false},
    {"Whisper", Rotation::none, false, false},
};

constexpr std::string_view sum_normed[] = {
    "Bert",       "Roberta",    "XLMRoberta", "Camembert", "Electra",
    "Ernie",      "Bart",       "PLBart",     "Marian",    "Mpnet",
    "Longformer", "DistilBert", "NomicBert",  "Gte",       "JinaEmbeddingsV3"};

}  // namespace

std::string_view family_of(std::string_view name) {
  for (const std::string_view suffix :
       {"TextDecoderLayer", "DecoderLayer", "EncoderLayer", "Block", "Layer"})
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  return name;
}

NormKind norm_kind(std::string_view class_name) {
  for (const Norm& row : norms)
    if (row.class_name == class_name) return row.kind;
  return class_name.ends_with("RMSNorm") ? NormKind::rms : NormKind::layer;
}

ActivationKind activation_kind(std::string_view class_name) {
  for (const Activation& row : activations)
    if (row.class_name == class_name) return row.kind;
  return ActivationKind::input;
}

RouterKind router_kind(std::string_view class_name) {
  if (class_name.starts_with("GptOss") || class_name.starts_with("Granite") ||
      class_name.starts_with("JetMoe"))
    return RouterKind::softmax_of_chosen;
  for (const std::string_view family :
       {"DeepseekV3", "Dots1", "ExaoneMoe", "Glm4Moe", "Glm4vMoe", "GlmMoeDsa", "AXK", "SolarOpen",
        "KimiLinear", "Afmoe", "HYV", "MiniMaxM2", "Kolibri1", "Llama4"})
    if (class_name.starts_with(family)) return RouterKind::sigmoid;
  return RouterKind::softmax_of_all;
}

AttentionRow attention_row(std::string_view family) {
  for (const AttentionRow& row : attentions)
    if (row.family == family) return row;
  return {.family = family};
}

bool norms_the_sum(std::string_view family) {
  return std::find(std::begin(sum_normed), std::end(sum_normed), family) != std::end(sum_normed);
}

}  // namespace headroom::model::layer_rows
