// Tensor names in llama.cpp's files.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// A tensor of a GGUF file and its share of the described tensor. Gate and up are two tensors
/// there.
struct GgufName {
  std::string name;  ///< "blk.0.ffn_gate_exps.weight"
  double share = 1;
};

/// Names for tensors of one model. Keeps a reference: the model must outlive it.
///
/// Source: llama.cpp gguf-py/gguf/tensor_mapping.py and constants.py (TENSOR_NAMES). A tensor
/// without a name there (towers, mixers of few models) keeps its own name after the block number.
class GgufNames {
 public:
  explicit GgufNames(const Model& model);
  std::vector<GgufName> of(const Tensor& tensor) const;

 private:
  const Model& model_;
};

}  // namespace headroom::model
