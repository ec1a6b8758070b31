#include "model/describe/layers/class_rows.hpp"

#include <algorithm>
#include <iterator>

namespace headroom::model::layers {
namespace {

struct NormRow {
  std::string_view class_name;
  NormKind kind;
};
constexpr NormRow norm_rows[] = {
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
struct ActivationRow {
  std::string_view class_name;
  ActivationKind kind;
};
constexpr ActivationRow kept_by[] = {
    {"ReLU", ActivationKind::result},
    {"ReLU6", ActivationKind::result},
    {"Sigmoid", ActivationKind::result},
    {"Tanh", ActivationKind::result},
    {"ReLUSquaredActivation", ActivationKind::squared_relu},
    {"NewGELUActivation", ActivationKind::tanh_written_out},
    {"FastGELUActivation", ActivationKind::tanh_written_out},
    {"QuickGELUActivation", ActivationKind::sigmoid_product},
    {"XIELUActivation", ActivationKind::xielu},
};

constexpr AttentionRow attentions[] = {
    {"Bamba", Rotation::concatenated},
    {"Glm", Rotation::concatenated, false, true, false, true},
    {"Glm4", Rotation::concatenated, false, true, false, true},
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
    {"Ernie4_5", Rotation::widened, true, true, false, true},
    {"Ernie4_5_Moe", Rotation::widened, true, true, false, true},
    {"Helium", Rotation::added, false, true, false, true},
    {"HunYuanDenseV1", Rotation::added, false, true, false, false, true},
    {"HunYuanMoEV1", Rotation::added, false, true, false, false, true},
    {"Llama4", Rotation::widened, false, true, false, false, true},
    {"Qwen2VL", Rotation::added, false, true, false, false, false, true},
    {"Qwen2_5_VL", Rotation::added, false, true, false, false, false, true},
    {"Qwen3VL", Rotation::added, false, true, false, false, false, true},
    {"Qwen3VLMoe", Rotation::added, false, true, false, false, false, true},
    {"Qwen2VLVision", Rotation::widened},
    {"Qwen2_5_VLVision", Rotation::widened},
    {"Qwen3VLVision", Rotation::widened},
    {"Qwen3_5Vision", Rotation::widened},
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
    {"BioGpt", Rotation::none, false, false},
    {"XGLM", Rotation::none, false, false},
    {"CTRL", Rotation::none, false, false},
    {"M2M100", Rotation::none, false, false},
    {"Blenderbot", Rotation::none, false, false},
    {"UMT5", Rotation::none, false, false},
    {"Transformer", Rotation::none, false, false},  // DistilBERT's block
    {"Ernie", Rotation::none, false, false},
    {"MPNet", Rotation::none, false, false},
    {"Albert", Rotation::none, false, false},
    {"NomicBert", Rotation::added, false, false},
    {"T5", Rotation::none, false, false},
    {"MT5", Rotation::none, false, false},
    {"Bart", Rotation::none, false, false},
    {"MBart", Rotation::none, false, false},
    {"Pegasus", Rotation::none, false, false},
    {"Marian", Rotation::none, false, false},
    {"Whisper", Rotation::none, false, false},
};

// Last names of modules with a weight, and of tensors beside weight and bias.
constexpr std::string_view understood_names[] = {
    // matrices of attention
    "q_proj", "k_proj", "v_proj", "o_proj", "out_proj", "qkv_proj", "query_key_value", "c_attn",
    "c_proj", "Wqkv", "Wo", "qkv", "proj", "query", "key", "value", "dense", "out_lin", "q_lin",
    "k_lin", "v_lin", "q", "k", "v", "o", "q_a_proj", "q_b_proj", "kv_a_proj_with_mqa", "kv_b_proj",
    "projection_layer", "relative_attention_bias",
    // norms
    "input_layernorm", "post_attention_layernorm", "pre_feedforward_layernorm",
    "post_feedforward_layernorm", "post_self_attn_layernorm", "post_mlp_layernorm",
    "pre_mlp_layernorm", "q_norm", "k_norm", "q_layernorm", "k_layernorm", "query_layernorm",
    "key_layernorm", "q_a_layernorm", "kv_a_layernorm", "attn_sub_norm", "ffn_sub_norm", "ln_1",
    "ln_2", "ln_attn", "ln_mlp", "norm_1", "norm_2", "norm1", "norm2", "layer_norm1", "layer_norm2",
    "layernorm_before", "layernorm_after", "attn_norm", "mlp_norm", "attention_norm", "ffn_norm",
    "attention_layernorm", "feedforward_layernorm", "self_attn_layer_norm", "final_layer_norm",
    "encoder_attn_layer_norm", "layer_norm", "LayerNorm", "sa_layer_norm", "output_layer_norm",
    "operator_norm", "pre_ff_layernorm", "norm", "full_layer_layer_norm", "0", "1", "2", "3", "4",
    "5", "6", "7",  // norms of each head apart (StableLM 2 12B)
    // feed-forward
    "gate_proj", "up_proj", "down_proj", "gate_up_proj", "fc1", "fc2", "c_fc", "dense_h_to_4h",
    "dense_4h_to_h", "fc_in", "fc_out", "wi", "wi_0", "wi_1", "wo", "w1", "w2", "w3", "Wi", "lin1",
    "lin2", "ffn", "ffn_output", "linear_fc1", "linear_fc2", "input_linear", "output_linear",
    // experts, as tensors where they are stacked
    "gate", "router", "wg", "shared_expert_gate", "gate_up_proj_bias", "down_proj_bias",
    "e_score_correction_bias", "expert_bias",
    // beside matrices
    "sinks", "lambda_1", "lambda_2", "alpha_p", "alpha_n"};

constexpr std::string_view mixer_names[] = {
    "in_proj",      "x_proj",       "dt_proj",     "out_proj",   "conv1d",
    "conv",         "A_log",        "D",           "dt_bias",    "norm",
    "in_proj_qkvz", "in_proj_ba",   "in_proj_qkv", "in_proj_z",  "in_proj_b",
    "in_proj_a",    "dt_layernorm", "b_layernorm", "c_layernorm"};

constexpr std::string_view sum_normed[] = {
    "Albert",    "Transformer", "MPNet",      "Bert",      "Roberta", "XLMRoberta",
    "Camembert", "Electra",     "Ernie",      "Bart",      "PLBart",  "Marian",
    "Mpnet",     "Longformer",  "DistilBert", "NomicBert", "Gte",     "JinaEmbeddingsV3"};

}  // namespace

std::string_view family_of(std::string_view name) {
  for (const std::string_view suffix :
       {"TextDecoderLayer", "DecoderLayer", "EncoderLayer", "Block", "Layer"})
    if (name.size() > suffix.size() && name.ends_with(suffix))
      return name.substr(0, name.size() - suffix.size());
  return name;
}

NormKind norm_kind(std::string_view class_name) {
  for (const NormRow& row : norm_rows)
    if (row.class_name == class_name) return row.kind;
  return class_name.ends_with("RMSNorm") ? NormKind::rms : NormKind::layer;
}

ActivationKind activation_kind(std::string_view class_name) {
  for (const ActivationRow& row : kept_by)
    if (row.class_name == class_name) return row.kind;
  return ActivationKind::input;
}

RouterKind router_kind(std::string_view class_name) {
  if (class_name.starts_with("GptOss")) return RouterKind::softmax_of_chosen;
  if (class_name.starts_with("Granite")) return RouterKind::softmax_of_raised;
  if (class_name.starts_with("Ernie4_5")) return RouterKind::softmax_fp32;
  if (class_name.starts_with("MiniMaxM2")) return RouterKind::sigmoid_as_is;
  for (const std::string_view family :
       {"DeepseekV3", "Dots1", "ExaoneMoe", "Glm4Moe", "Glm4vMoe", "GlmMoeDsa", "AXK", "SolarOpen",
        "KimiLinear", "Afmoe", "HYV", "Kolibri1"})
    if (class_name.starts_with(family)) return RouterKind::sigmoid;
  return RouterKind::softmax_of_all;
}

bool is_listed(std::string_view family) {
  return std::ranges::find(attentions, family, &AttentionRow::family) != std::end(attentions);
}

bool is_understood(std::string_view name, bool mixes) {
  return std::ranges::find(understood_names, name) != std::end(understood_names) ||
         (mixes && std::ranges::find(mixer_names, name) != std::end(mixer_names));
}

AttentionRow attention_row(std::string_view family) {
  for (const AttentionRow& row : attentions)
    if (row.family == family) return row;
  return {.family = family};
}

bool has_post_norms(std::string_view family) {
  return std::find(std::begin(sum_normed), std::end(sum_normed), family) != std::end(sum_normed);
}

}  // namespace headroom::model::layers
