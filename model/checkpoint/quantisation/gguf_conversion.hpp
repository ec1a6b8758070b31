// Facts about llama.cpp's converter and llama-quantize that depend on names of classes and tensors.
#pragma once

#include <string>
#include <string_view>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// Empty if llama.cpp converts the class of `model` and the types of its tensors are described;
/// otherwise the reason.
std::string gguf_refusal(const Model& model);

/// True if the converter makes three tensors of the model's fused queries, keys and values.
bool splits_qkv(const Model& model);

/// The format of tensors that llama-quantize leaves as the converter wrote them. Empty for tensors
/// that it quantises.
std::string_view kept_format(std::string_view tensor);

}  // namespace headroom::model
