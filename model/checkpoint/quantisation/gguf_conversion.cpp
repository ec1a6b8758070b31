#include "model/checkpoint/quantisation/gguf_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/json.hpp>

#include "model/checkpoint/gguf/keys.hpp"
#include "model/checkpoint/gguf/name_rows.hpp"
#include "model/checkpoint/quantisation/gguf_model_types.hpp"
#include "model/describe/tensor_class.hpp"

namespace headroom::model {
namespace {

/// Classes whose fused matrix becomes attn_q, attn_k and attn_v. Source: llama.cpp
/// conversion/baichuan.py, bailingmoe.py (BailingMoeModel), internlm.py (modify_tensors).
constexpr auto split_classes =
    std::to_array<std::string_view>({"BaiChuanForCausalLM", "BaichuanForCausalLM",
                                     "BailingMoeForCausalLM", "InternLM2ForCausalLM"});

struct KeptTensor {
  std::string_view name;    ///< start of its name in llama.cpp
  std::string_view format;  ///< the converter's
};
/// Source: llama.cpp src/llama-quant.cpp tensor_allows_quantization; formats by conversion/base.py
/// prepare_tensors and minimax.py tensor_force_quant.
constexpr KeptTensor kept_tensors[] = {
    {"ffn_gate_inp", "fp32"},   {"indexer.q_proj", "fp32"}, {"indexer.k_proj", "fp32"},
    {"attn_rel_b", "fp16"},     {"position_embd", "fp32"},  {"token_types", "fp32"},
    {"shortconv.conv", "fp32"}, {"ssm_conv1d", "fp32"},
};

/// Model types and layers that ik_llama.cpp labels "8B", the type in llama.cpp's words: llama,
/// qwen3, cohere2, mistral3. Source: its src/llama-hparams.cpp. Qwen3-4B has 36 layers too.
constexpr std::pair<std::string_view, Size> eight_b[] = {
    {"llama", 32}, {"mistral", 32}, {"llama", 36},    {"granite", 36},
    {"qwen3", 36}, {"cohere2", 32}, {"qwen3_vl", 36}, {"ministral3", 34}};

/// Names of the tensor in llama.cpp, the most usual first. Empty if none is known.
std::string_view names_in_llama_cpp(std::string_view tensor) {
  if (tensor.ends_with(".weight")) tensor.remove_suffix(7);
  const GgufModule* row = gguf_block_row(tensor);
  if (row == nullptr) row = gguf_outer_row(tensor);
  return row == nullptr ? "" : row->gguf;
}

}  // namespace

std::string gguf_refusal(const Model& model) {
  const auto lists = [&](const auto& names) {
    return std::ranges::find(names, model.architecture) != names.end() ||
           std::ranges::find(names, model.model_type) != names.end();
  };
  if (lists(gguf_model_types) || lists(gguf_classes)) return "";
  if (lists(gguf_undescribed_classes))
    return fmt::format("llama.cpp converts '{}' ({}), but its tensor types are not described",
                       model.model_type, model.architecture);
  for (const GgufArchitecture& row : gguf_architectures())
    if (row.class_name == model.architecture || row.model_type == model.model_type) return "";
  return fmt::format("llama.cpp is not known to convert '{}' ({})", model.model_type,
                     model.architecture);
}

bool splits_qkv(const Model& model) {
  return std::ranges::find(split_classes, model.architecture) != split_classes.end();
}

std::string_view kept_format(std::string_view tensor) {
  if (is_per_layer_projection(tensor) || is_router(tensor)) return "fp32";
  const std::string_view name = names_in_llama_cpp(tensor);
  for (const KeptTensor& row : kept_tensors)
    if (name.starts_with(row.name)) return row.format;
  return "";
}

void ask_of_ik(std::string_view tensor, MixQuestion& question) {
  const std::string_view name = names_in_llama_cpp(tensor);
  if (question.tensor_class == TensorClass::other && name.starts_with("attn_k"))
    question.tensor_class = TensorClass::attention_k;
  if (question.tensor_class == TensorClass::other && name.starts_with("attn_q"))
    question.tensor_class = TensorClass::attention_q;
  question.shared_expert = name.find("_shexp") != name.npos;
}

bool is_eight_b(const Model& model, Size layers) {
  return std::ranges::any_of(eight_b,
                             [&](const auto& row) {
                               return row.first == model.model_type && row.second == layers;
                             }) &&
         model.shape.hidden_size != 2560;
}

Size rope_factors(const Config& config, Size head_dim) {
  for (const Config& c : {config, config.section_or_empty("text_config")}) {
    for (const std::string_view key : {"rope_scaling", "rope_parameters"}) {
      const boost::json::value* value = c.object().if_contains(key);
      if (value == nullptr || !value->is_object()) continue;
      const boost::json::object& scaling = value->get_object();
      const auto is = [&](std::string_view type) {
        for (const std::string_view name : {"rope_type", "type"})
          if (const auto* found = scaling.if_contains(name))
            if (found->is_string() && std::string_view(found->get_string()) == type) return true;
        return false;
      };
      if (is("llama3")) return head_dim / 2;
      Size factors = 0;
      if (is("longrope"))
        for (const std::string_view name : {"long_factor", "short_factor"})
          if (const auto* list = scaling.if_contains(name); list != nullptr && list->is_array())
            factors += static_cast<Size>(list->get_array().size());
      if (factors > 0) return factors;
    }
  }
  return 0;
}

}  // namespace headroom::model
