// Maps llama.cpp's tensor names to those of the descriptions.
#pragma once

#include <vector>

#include "model/checkpoint/formats/gather.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// The tensors of a GGUF file under the names of `part`. A fused matrix of the description collects
/// all its tensors (gate and up of stacked experts, the two halves of kv_b_proj). A rotary table
/// takes its scaling factors. Only element counts are compared, because llama.cpp transposes some
/// matrices and squeezes some shapes. A tensor unknown to `part` keeps its name.
///
/// Source: llama.cpp, gguf-py/gguf/tensor_mapping.py and conversion/*.py (2026).
std::vector<Gathered> gather_gguf(const Part& part, const TensorList& list);

}  // namespace headroom::model
