// Facts about PEFT and transformers' classes for the adapter rules.
#pragma once

#include <span>
#include <string_view>

namespace headroom::model::adapter_rows {

/// Projections that transformers 4 had in every expert, and the stacked tensors that replace them
/// in transformers 5. A tensor that fuses `fused` projections is targeted as a whole. Its rank is
/// multiplied by `fused`.
struct Renamed {
  std::string_view old_name, tensor;
  int fused = 1;
};

/// Renamed targets of that model type. Empty if there are none. Source: PEFT 0.21,
/// utils/transformers_weight_conversion.py, _MOE_TARGET_MODULE_MAPPING; transformers 5.23,
/// conversion_mapping.py, _MODEL_TO_CONVERSION_PATTERN.
std::span<const Renamed> renamed_targets(std::string_view model_type);

/// Modules of recurrent layers that are never adapted, because kernels read their weights directly.
/// Source: PEFT 0.21, tuners_utils.py, _check_lora_target_modules_mamba.
bool never_adapted(std::string_view model_type, std::string_view module_name);

/// True for torch.nn.Linear and classes derived from it. Source: transformers 5.23, modeling files.
/// Derived classes are named ...Linear, except routers.
bool is_linear(std::string_view class_name);

/// PEFT's default targets, separated by spaces. Empty: none.
std::string_view default_target_names(std::string_view model_type);

}  // namespace headroom::model::adapter_rows
