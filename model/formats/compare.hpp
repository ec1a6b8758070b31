// A description held against the tensors of a checkpoint, tensor by tensor.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/formats/tensor_header.hpp"
#include "model/part.hpp"

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

struct Comparison {
  Size described = 0;  ///< tensors of the description that checkpoints hold
  Size matched = 0;    ///< of them, found with the same shape
  Size renamed = 0;    ///< of the matched, under another name
  std::vector<Difference> differences;
};

/// The rule by which names are held to mean the same, in words for a report.
inline constexpr std::string_view name_rule =
    "Equal names first. Then 'experts.N.' tensors are stacked into the fused one that transformers "
    "5 "
    "has in memory (gate and up, or w1 and w3, into gate_up_proj; down or w2 into down_proj). "
    "What is left pairs where the numbers in the path, the last two words and the shape are equal, "
    "by "
    "the longest common end, if one pair alone has it. Companions of packed weights are not "
    "compared.";

/// Compares parameters of `part` with `list`. Packed weights (whose stored shape is not the
/// matrix's) are compared by their number of logical elements.
Comparison compare(const Part& part, const TensorList& list);

std::string_view name_of(Difference::Kind kind);

}  // namespace headroom::model
