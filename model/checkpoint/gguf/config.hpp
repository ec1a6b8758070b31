// Converts the keys and tensors of a GGUF file to a transformers config.
#pragma once

#include <string>

#include "model/checkpoint/formats/gguf.hpp"
#include "model/describe/config.hpp"

namespace headroom::model {

/// A config of the class that describes the same tensors. Missing keys are derived from the
/// tensors: the vocabulary, biases, query and key norms, and a separate head. It covers the
/// language model only; towers are separate files. Sliding windows follow llama.cpp, which drops
/// Mistral's.
///
/// Throws NotDescribed for an architecture without a description. Throws FormatError naming file
/// and key for keys that are missing or wrong.
Config gguf_config(const GgufHeader& header, const TensorList& tensors);

/// `part` without the modules that llama.cpp omits for this architecture (BERT's pooler). Modules
/// that its files have in addition are added (keys and values of layers that share them).
Part as_gguf(Part part, const GgufHeader& header, const TensorList& tensors);

/// The scheme (a name of schemes()) of the file according to "general.file_type", else that of the
/// type with most bytes. `said`: the file states it.
struct GgufScheme {
  std::string name;
  bool said = false;
};
GgufScheme gguf_scheme(const GgufHeader& header, const TensorList& tensors);

}  // namespace headroom::model
