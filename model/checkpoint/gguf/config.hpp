// The config that the keys and tensors of a GGUF file stand for, in the words of transformers.
#pragma once

#include <string>

#include "model/checkpoint/formats/gguf.hpp"
#include "model/describe/config.hpp"

namespace headroom::model {

/// A config of the class that describes the same tensors. What keys do not say is read off the
/// tensors: the vocabulary, biases, norms of queries and keys, a head of its own. Only the language
/// model: towers are files of their own. Sliding windows as llama.cpp has them, which drops
/// Mistral's.
///
/// Throws NotDescribed for an architecture that no description stands for, and FormatError that
/// names the file and the key for keys that are missing or wrong.
Config gguf_config(const GgufHeader& header, const TensorList& tensors);

/// `part` without the modules that llama.cpp leaves out of files of this architecture (BERT's
/// pooler).
Part as_gguf(Part part, const GgufHeader& header);

/// The scheme (a name of schemes()) that the file says it is in, "general.file_type"; where it says
/// none, the one of the type that most bytes are in. `said`: whether the file says it.
struct GgufScheme {
  std::string name;
  bool said = false;
};
GgufScheme gguf_scheme(const GgufHeader& header, const TensorList& tensors);

}  // namespace headroom::model
