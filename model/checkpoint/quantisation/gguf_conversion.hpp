// Facts about llama.cpp's converter and llama-quantize that depend on names of classes and tensors.
#pragma once

#include <string>
#include <string_view>

#include "model/checkpoint/model.hpp"
#include "model/checkpoint/quantisation/mix.hpp"

namespace headroom::model {

/// Empty if llama.cpp converts the class of `model` and the types of its tensors are described;
/// otherwise the reason.
std::string gguf_refusal(const Model& model);

/// Query heads per key-value head as llama-quantize counts them, which asks the first layer: 0 if
/// that has no attention and the file says so.
/// Source: llama.cpp src/llama-hparams.cpp n_gqa.
Size heads_in_group(const Model& model);

/// True if the converter makes three tensors of the model's fused queries, keys and values.
bool splits_qkv(const Model& model);

/// llama.cpp's architecture of `model` by its class; empty if no row of gguf_architectures() has
/// it.
std::string_view gguf_architecture_of(const Model& model);

/// The format of tensors that llama-quantize leaves as the converter wrote them, or that have the
/// same one in every mix. Empty for tensors that the mix decides about.
std::string_view kept_format(std::string_view architecture, std::string_view tensor);

/// The class of a tensor for llama-quantize, which looks for parts of its own names: "hc_ffn_down"
/// counts among the matrices of a feed-forward. A tensor whose name is not known has the class of
/// its module.
TensorClass class_in_llama_cpp(std::string_view tensor);

/// Completes a question by the name in the file, as ik_llama.cpp's rules read it: "attn_kv_a_mqa"
/// and "attn_k_b" are keys, "attn_q_b" is of queries, "ffn_up_shexp" of a shared expert. A matrix
/// that the file splits in two counts as its first part.
void ask_of_ik(std::string_view tensor, MixQuestion& question);

/// True for models of `layers` layers that ik_llama.cpp labels "8B".
bool is_eight_b(const Model& model, Size layers);
/// True if the model or its language model is of this type: llama.cpp's label goes by the language
/// model. Its type is what the config says, or that of a whole model which is a part.
bool is_of_type(const Model& model, std::string_view type);

}  // namespace headroom::model
