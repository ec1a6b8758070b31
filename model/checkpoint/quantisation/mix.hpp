// llama.cpp's mixes: which format each tensor of a "Q4_K_M" file is in. The rules are a table.
#pragma once

#include <string_view>

#include "hardware/units.hpp"
#include "model/describe/tensor_class.hpp"

namespace headroom::model {

/// What the rules ask of the model and of the tensor.
struct MixQuestion {
  TensorClass tensor_class = TensorClass::other;
  Size index = 0;                ///< of its class: the layer, or how many of the class came before
  Size of = 0;                   ///< layers, or tensors of the class
  Size row = 0;                  ///< elements of a row
  Size gqa = 1;                  ///< query heads per key-value head
  Size experts = 0;              ///< 0: dense
  bool stacked_experts = false;  ///< this tensor holds all experts of its layer
  bool falcon = false;           ///< llama.cpp's falcon architecture has rules of its own
  bool seventy_b = false;        ///< llama.cpp's model type "70B"
  bool tied = false;             ///< no output tensor: the token embedding takes its rule
  bool importance = false;       ///< made with an importance matrix
};

/// Format (a row of precisions()) of a tensor that is quantised at all, in the mix called `mix`
/// ("q4_K_M"), after the fallback for rows that no block divides.
///
/// Source: llama.cpp 007dbbf3 src/llama-quant.cpp; fused attention_qkv as in the files of 2023 to
/// 2025 (koboldcpp 2da346a5 src/llama.cpp), before that class was merged with attention_v.
std::string_view mixed_format(std::string_view mix, const MixQuestion& question);

}  // namespace headroom::model
