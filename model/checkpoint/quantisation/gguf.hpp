// A model as llama.cpp stores it: which tensors a GGUF file holds, and in which format.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// Whether llama.cpp has `model`'s architecture, as far as is known here; else the reason.
std::string gguf_refusal(const Model& model);

/// The tensors of the language model, which one GGUF file holds, in the order of
/// model.part.tensors; vision and audio towers are a file of their own.
std::vector<const Tensor*> language_tensors(const Model& model);

/// Elements of the rotary scaling factors that GGUF files of `config`'s model hold: half a head for
/// "llama3" scaling, both lists for "longrope", else none.
Size rope_factors(const Config& config, Size head_dim);

/// The tensors of `model` in the mix or the plain type `scheme`, in the order of
/// model.part.tensors. Norms, biases, routers, positions, convolutions and everything that is not a
/// matrix are fp32; buffers that checkpoints do not hold take nothing; vision and audio towers are
/// the fp16 of an mmproj file.
std::vector<QuantisedTensor> held_gguf(const Model& model, const Scheme& scheme);

}  // namespace headroom::model
