// A description held against the tensors of a checkpoint, tensor by tensor.
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
    missing,     ///< described, and not in the checkpoint
    unexpected,  ///< in the checkpoint, and not described
    shape,       ///< in both, of other shapes
    experts,     ///< stacked experts whose parts do not add up to the described tensor
  };
  Kind kind;
  std::string name;  ///< as described, or as the checkpoint has it where it is not described
  std::string text;  ///< what was found and what was expected
};

/// What a checkpoint holds for one tensor of a description.
struct StoredTensor {
  std::string_view dtype{};  ///< of most of its bytes; empty where it is not there or not known
  Bytes bytes{};             ///< with scales, zero points and maps
  Size parts = 0;            ///< tensors that make it up; 0: not there, or of another shape
  std::string name{};        ///< as the checkpoint has it
};

struct Comparison {
  Size described = 0;  ///< tensors of the description that checkpoints hold
  Size matched = 0;    ///< of them, found with the same shape
  Size renamed = 0;    ///< of the matched, under another name
  std::vector<Difference> differences{};
  std::vector<StoredTensor> stored{};  ///< one for each tensor of the description
};

/// The rule by which names are held to mean the same, in words for a report.
inline constexpr std::string_view name_rule =
    "Equal names first. 'experts.N.' tensors are stacked into the fused one that transformers 5 "
    "has "
    "in memory (gate and up, or w1 and w3, into gate_up_proj; down or w2 into down_proj). What is "
    "left pairs where the numbers in the path, the last two words and the shape are equal, by the "
    "longest common end, if one pair alone has it. Then, where numbers, last word and shape are "
    "equal for as many tensors on both sides, these pair in order. Companions of packed weights "
    "belong to them.";

/// Compares parameters of `part` with `list`. Packed weights (whose stored shape is not the
/// matrix's) are compared by their number of logical elements; tensors of which only the name is
/// known, by the name. A tied tensor may be stored under any of its names.
Comparison compare(const Part& part, const TensorList& list);
/// The same for tensors that were gathered under names of the description.
Comparison compare(const Part& part, std::vector<Gathered> found);

std::string_view name_of(Difference::Kind kind);

}  // namespace headroom::model
