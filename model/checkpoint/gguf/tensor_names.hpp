// The names that llama.cpp's files give to tensors.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// One tensor of a GGUF file, and which share of ours it is: gate and up are two there.
struct GgufName {
  std::string name;  ///< "blk.0.ffn_gate_exps.weight"
  double share = 1;
};

/// Names for tensors of one model. Keeps a reference: the model must outlive it.
///
/// Source: llama.cpp gguf-py/gguf/tensor_mapping.py and constants.py (TENSOR_NAMES). What has no
/// name there (towers, mixers of few models) keeps its own words behind the block's number.
class GgufNames {
 public:
  explicit GgufNames(const Model& model);
  std::vector<GgufName> of(const Tensor& tensor) const;

 private:
  const Model& model_;
};

}  // namespace headroom::model
