// llama.cpp's names of tensors, as those of the descriptions.
#pragma once

#include <vector>

#include "model/checkpoint/formats/gather.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// The tensors of a GGUF file under the names that `part` has for them: a fused matrix of the
/// description takes all that stand for it (gate and up of stacked experts, the two halves of
/// kv_b_proj), and a rotary table takes the factors that scale it. Only elements compare: llama.cpp
/// turns some matrices round and squeezes some shapes. What no tensor of `part` is called keeps its
/// own name.
///
/// Source: llama.cpp, gguf-py/gguf/tensor_mapping.py and conversion/*.py (2026).
std::vector<Gathered> gather_gguf(const Part& part, const TensorList& list);

}  // namespace headroom::model
