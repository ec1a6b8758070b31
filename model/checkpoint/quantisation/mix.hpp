// llama.cpp's mixes: the format of each tensor of a "Q4_K_M" file, as a table of rules.
#pragma once

#include <string_view>

#include "hardware/units.hpp"
#include "model/describe/tensor_class.hpp"

namespace headroom::model {

/// Facts about the model and the tensor that the rules use.
struct MixQuestion {
  TensorClass tensor_class = TensorClass::other;
  Size index = 0;                ///< the layer, or the number of earlier tensors of its class
  Size of = 0;                   ///< number of layers, or of tensors of the class
  Size row = 0;                  ///< elements of a row
  Size gqa = 1;                  ///< query heads per key-value head
  Size experts = 0;              ///< 0: dense
  bool stacked_experts = false;  ///< the tensor holds all experts of its layer
  bool falcon = false;           ///< llama.cpp's falcon architecture has its own rules
  bool seventy_b = false;        ///< llama.cpp's model type "70B"
  bool tied = false;             ///< without an output tensor the token embedding follows its rule
  bool importance = false;       ///< made with an importance matrix
};

/// Format (a row of precisions()) of a quantised tensor in the mix called `mix` ("q4_K_M"), after
/// the fallback for rows that are no multiple of the block.
///
/// Source: llama.cpp 007dbbf3 src/llama-quant.cpp; fused attention_qkv as in the files of 2023 to
/// 2025 (koboldcpp 2da346a5 src/llama.cpp), before that class was merged with attention_v.
std::string_view mixed_format(std::string_view mix, const MixQuestion& question);

}  // namespace headroom::model
