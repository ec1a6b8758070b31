// Parameters and bytes from headers alone. This also covers architectures that are not described.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "model/checkpoint/formats/tensor_header.hpp"

namespace headroom::model {

struct LogicalCount {
  Size elements = 0;     ///< parameters of the tensor
  bool assumed = false;  ///< assumed to have 4 bits each, because neither type nor shape states it
};

/// The logical count of each tensor of `list`, in its order.
///
/// A packed weight counts its logical elements: GPTQ's and AWQ's qweight, bitsandbytes' 4 bits,
/// compressed-tensors' weight_packed, gpt-oss's _blocks, ModelOpt's NVFP4, MLX's U32. Its scales,
/// zero points and maps count 0, as do integer and boolean buffers, attention masks and rotary
/// tables. Layouts: model/checkpoint/quantisation/layout.hpp; transformers 5.23
/// integrations/mxfp4.py. Throws FormatError if a count overflows.
std::vector<LogicalCount> logical_counts(const TensorList& list);

struct TypeTotals {
  Size tensors = 0, parameters = 0;
  Bytes bytes;
};
struct HeaderTotals {
  Size parameters = 0;
  Bytes bytes;
  std::map<std::string, TypeTotals> by_type;  ///< by dtype in the file's spelling
  std::vector<std::string> notes;
};
HeaderTotals totals_of(const TensorList& list);

}  // namespace headroom::model
