// What headers alone say: parameters and bytes, for architectures that are not described too.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/checkpoint/formats/tensor_header.hpp"

namespace headroom::model {

struct LogicalCount {
  Size elements = 0;     ///< parameters that the tensor stands for
  bool assumed = false;  ///< counted as 4 bits each, which neither type nor shape says
};

/// What each tensor of `list` stands for, in its order.
///
/// A packed weight counts its logical elements: GPTQ's and AWQ's qweight, bitsandbytes' 4 bits,
/// compressed-tensors' weight_packed, gpt-oss's _blocks, ModelOpt's NVFP4, MLX's U32. What lies
/// beside it (scales, zero points, maps), integer and boolean buffers, attention masks and rotary
/// tables count 0. Layouts: model/checkpoint/quantisation/layout.hpp; transformers 5.23
/// integrations/mxfp4.py. Throws FormatError where a count overflows.
std::vector<LogicalCount> logical_counts(const TensorList& list);

struct TypeTotals {
  Size tensors = 0, parameters = 0;
  Bytes bytes;
};
struct HeaderTotals {
  Size parameters = 0;
  Bytes bytes;
  std::map<std::string, TypeTotals> by_type;  ///< by dtype as the file spells it
  std::vector<std::string> notes;
};
HeaderTotals totals_of(const TensorList& list);

}  // namespace headroom::model
