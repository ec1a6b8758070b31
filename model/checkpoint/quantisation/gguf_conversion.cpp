#include "model/checkpoint/quantisation/gguf_conversion.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

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

}  // namespace headroom::model
