// Compares a description with the tensors of a checkpoint.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/formats/gather.hpp"
#include "model/checkpoint/formats/tensor_header.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

struct Difference {
  enum class Kind {
    missing,     ///< described, but not in the checkpoint
    unexpected,  ///< in the checkpoint, but not described
    shape,       ///< in both, with different shapes
    experts,     ///< stacked experts whose parts do not sum to the described tensor
  };
  Kind kind;
  std::string name;  ///< described name; for an undescribed tensor the checkpoint's name
  std::string text;  ///< found and expected
};

/// Entry of a checkpoint for one described tensor.
struct StoredTensor {
  std::string_view dtype{};  ///< type of most of its bytes; empty if missing or unknown
  Bytes bytes{};             ///< including scales, zero points and maps
  Size parts = 0;            ///< number of stored tensors; 0: missing, or of another shape
  std::string name{};        ///< name in the checkpoint
};

struct Comparison {
  Size described = 0;  ///< described tensors that checkpoints store
  Size matched = 0;    ///< expected tensors that were found with an equal shape
  Size renamed = 0;    ///< matched tensors that were found under another name
  std::vector<Difference> differences{};
  std::vector<StoredTensor> stored{};  ///< one for each tensor of the description
};

/// The rule for equivalent names, worded for a report.
inline constexpr std::string_view name_rule =
    "Equal names first. 'experts.N.' tensors are stacked into the fused one that transformers 5 "
    "has "
    "in memory (gate and up, or w1 and w3, into gate_up_proj; down or w2 into down_proj). Other "
    "tensors pair if the numbers in the path, the last two words and the shape are equal. The "
    "longest common end decides, if only one pair has it. Then, where numbers, last word and shape "
    "are "
    "equal for as many tensors on both sides, these pair in order. Companions of packed weights "
    "belong to them.";

/// Compares parameters of `part` with `list`. A packed weight is compared by its number of logical
/// elements, because its stored shape differs. Tensors known by name only are compared by name. A
/// tied tensor may have any of its names.
Comparison compare(const Part& part, const TensorList& list);
/// For tensors already gathered under described names.
Comparison compare(const Part& part, std::vector<Gathered> found);

std::string_view name_of(Difference::Kind kind);

}  // namespace headroom::model
