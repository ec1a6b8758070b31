// A model as llama.cpp stores it: the tensors of a GGUF file and their formats.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

struct TensorIndex;

/// The tensors of the language model, which one GGUF file holds, in the order of
/// model.part.tensors. Vision and audio towers are a separate file.
std::vector<const Tensor*> language_tensors(const Model& model);

/// Elements of the rotary scaling factors in GGUF files of `config`'s model: half a head for
/// "llama3" scaling, both lists for "longrope", else none.
Size rope_factors(const Config& config, Size head_dim);

/// The tensors of `model` in the mix or plain type `scheme`, in the order of model.part.tensors.
/// Norms, biases, routers, positions, convolutions and everything that is not a matrix are fp32.
/// Buffers that checkpoints do not store take nothing. Vision and audio towers are the fp16 of an
/// mmproj file.
std::vector<QuantisedTensor> quantised_gguf(const Model& model, const Scheme& scheme);
std::vector<QuantisedTensor> quantised_gguf(const TensorIndex& index, const Scheme& scheme);

}  // namespace headroom::model
