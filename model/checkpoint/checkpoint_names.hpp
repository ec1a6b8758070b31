// Names of modules in checkpoints whose classes in memory have other names.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace headroom::model {

/// `patterns` of a config, which name modules as the checkpoint does, with the names that the class
/// of `model_type` has in memory. Expressions, and names without a row, stay as they are.
/// Source: transformers 5.24 conversion_mapping.py. vLLM maps the same lists by `hf_to_vllm_mapper`
/// (model_loader/utils.py configure_quant_config).
std::vector<std::string> names_in_memory(std::string_view model_type,
                                         std::vector<std::string> patterns);

/// Names under which a checkpoint may store the parts of the joined matrix `module`: gate_proj and
/// up_proj for gate_up_proj. Empty for a module that joins nothing.
/// Source: packed_modules_mapping in vLLM 0.33 (minimax_m3/nvidia/model.py, llama.py).
std::vector<std::string> parts_of_joined(std::string_view module);

}  // namespace headroom::model
