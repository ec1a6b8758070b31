#include "model/checkpoint/adapter_rows.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace headroom::model::adapter_rows {
namespace {

constexpr Renamed mixtral_names[] = {{"gate", "gate.weight"},
                                     {"w1", "gate_up_proj", 2},
                                     {"w3", "gate_up_proj", 2},
                                     {"w2", "down_proj"}};
constexpr Renamed qwen_names[] = {{"gate", "gate.weight"},
                                  {"gate_proj", "gate_up_proj", 2},
                                  {"up_proj", "gate_up_proj", 2},
                                  {"down_proj", "down_proj"}};

constexpr std::string_view like_mixtral[] = {"mixtral", "minimax", "minimax_m2"};
constexpr std::string_view like_qwen[] = {"afmoe",
                                          "deepseek_v2",
                                          "deepseek_v3",
                                          "deepseek_v32",
                                          "dots1",
                                          "ernie4_5_moe",
                                          "glm4_moe",
                                          "glm4_moe_lite",
                                          "glm_moe_dsa",
                                          "glm4v_moe",
                                          "longcat_flash",
                                          "solar_open",
                                          "mellum",
                                          "qwen3_moe",
                                          "beam",
                                          "qwen3_omni_moe",
                                          "qwen3_omni_moe_thinker",
                                          "qwen3_omni_moe_text",
                                          "qwen3_next",
                                          "hunyuan_v1_moe",
                                          "flex_olmo",
                                          "olmoe",
                                          "exaone_moe",
                                          "cohere2_moe"};

constexpr std::string_view recurrent[] = {"falcon_h1", "mamba", "mamba2", "falcon_mamba",
                                          "nemotron_h"};

constexpr std::pair<std::string_view, std::string_view> defaults[] = {
    {"t5", "q v"},
    {"mt5", "q v"},
    {"bart", "q_proj v_proj"},
    {"gpt2", "c_attn"},
    {"bloom", "query_key_value"},
    {"blip-2", "q v q_proj v_proj"},
    {"opt", "q_proj v_proj"},
    {"gptj", "q_proj v_proj"},
    {"gpt_neox", "query_key_value"},
    {"gpt_neo", "q_proj v_proj"},
    {"bert", "query value"},
    {"roberta", "query value"},
    {"xlm-roberta", "query value"},
    {"electra", "query value"},
    {"deberta-v2", "query_proj value_proj"},
    {"deberta", "in_proj"},
    {"layoutlm", "query value"},
    {"llama", "q_proj v_proj"},
    {"llama4", "q_proj v_proj"},
    {"chatglm", "query_key_value"},
    {"gpt_bigcode", "c_attn"},
    {"mpt", "Wqkv"},
    {"RefinedWebModel", "query_key_value"},
    {"RefinedWeb", "query_key_value"},
    {"falcon", "query_key_value"},
    {"btlm", "c_proj c_attn"},
    {"codegen", "qkv_proj"},
    {"mistral", "q_proj v_proj"},
    {"mixtral", "q_proj v_proj"},
    {"stablelm", "q_proj v_proj"},
    {"phi", "q_proj v_proj fc1 fc2"},
    {"gemma", "q_proj v_proj"},
    {"gemma2", "q_proj v_proj"},
    {"gemma3_text", "q_proj v_proj"},
    {"gemma4", ".*language_model\\..*\\.(q_proj|v_proj)"},
    {"qwen2", "q_proj v_proj"},
    {"qwen3", "q_proj v_proj"},
    {"nemotron_h", "q_proj k_proj v_proj o_proj"},
    {"rwkv", "key value receptance output"},
    {"rwkv7", "r_proj k_proj v_proj o_proj key value"},
};

template <class Range>
bool has(const Range& range, std::string_view value) {
  return std::find(std::begin(range), std::end(range), value) != std::end(range);
}

}  // namespace

std::span<const Renamed> renamed_targets(std::string_view model_type) {
  if (has(like_mixtral, model_type)) return mixtral_names;
  if (has(like_qwen, model_type)) return qwen_names;
  return {};
}

bool never_adapted(std::string_view model_type, std::string_view module_name) {
  return has(recurrent, model_type) && (module_name == "out_proj" || module_name == "conv1d");
}

bool is_linear(std::string_view class_name) {
  return class_name.ends_with("Linear") || class_name == "Llama4Router" ||
         class_name == "PhimoeTopKRouter";
}

std::string_view default_target_names(std::string_view model_type) {
  for (const auto& [type, names] : defaults)
    if (type == model_type) return names;
  return {};
}

}  // namespace headroom::model::adapter_rows
