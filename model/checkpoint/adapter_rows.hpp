// Facts of PEFT and of transformers' classes that the rules of adapters need.
#pragma once

#include <span>
#include <string_view>

namespace headroom::model::adapter_rows {

/// Names of projections that transformers 4 had in every expert, and the tensors of all experts
/// that transformers 5 keeps instead. `fused` of them lie in one tensor: all are targeted or none,
/// and its rank is as many times the rank asked for.
struct Renamed {
  std::string_view old_name, tensor;
  int fused = 1;
};

/// How targets of that type of model are renamed; empty: not at all.
/// Source: PEFT 0.21, utils/transformers_weight_conversion.py, _MOE_TARGET_MODULE_MAPPING;
/// transformers 5.23, conversion_mapping.py, _MODEL_TO_CONVERSION_PATTERN.
std::span<const Renamed> renamed_targets(std::string_view model_type);

/// Modules of recurrent layers that are never adapted (the kernels read their weights directly).
/// Source: PEFT 0.21, tuners_utils.py, _check_lora_target_modules_mamba.
bool never_adapted(std::string_view model_type, std::string_view module_name);

/// Whether a module of that class is a torch.nn.Linear: itself and classes derived from it.
/// Source: transformers 5.23, modeling files; the derived ones are named ...Linear but for routers.
bool is_linear(std::string_view class_name);

/// PEFT's default targets, names apart by spaces; empty: none.
std::string_view default_target_names(std::string_view model_type);

}  // namespace headroom::model::adapter_rows
