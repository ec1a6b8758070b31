// llama.cpp's mixes: which format each tensor of a "Q4_K_M" file is in. The rules are a table.
#pragma once

#include <string_view>

#include "hardware/units.hpp"

namespace headroom::model {

/// What llama.cpp's rules tell tensors apart by.
enum class TensorClass {
  token_embedding,
  output,
  attention_q,
  attention_k,
  attention_v,
  attention_qkv,  ///< fused
  attention_output,
  feed_forward_up,
  feed_forward_gate,
  feed_forward_down,
  other,
};

/// The class of a weight by the words that transformers' module names end in:
/// "model.layers.0.self_attn.v_proj.weight" is attention_v.
TensorClass class_of(std::string_view name);

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
