// Groups a checkpoint's tensors as descriptions do: experts are stacked, and scales, zero points
// and maps join the packed weight that needs them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/formats/tensor_header.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// Entry of a checkpoint for one described tensor.
struct Gathered {
  std::string name;           ///< without the suffix of packing
  Shape shape{};              ///< as stored; empty for several stacked tensors
  Size elements = 0;          ///< logical elements; -1: only the name is known
  bool packed = false;        ///< the stored shape is not the matrix's: compare elements only
  bool assumed = false;       ///< elements are assumed to have 4 bits, because nothing states it
  Size parts = 1;             ///< tensors with elements
  Bytes bytes{};              ///< total of all its tensors
  std::string_view dtype{};   ///< type of the largest part
  bool used = false;          ///< matched to a described tensor
  std::string_view source{};  ///< name of its first tensor in the list, which must outlive this
};

/// Every tensor of `list` with parameters goes into one row. A tensor without parameters joins the
/// weight of its module or is dropped (masks, position numbers, rotary tables).
std::vector<Gathered> gather(const TensorList& list);

/// True if `g` can be `tensor`.
bool same_size(const Tensor& tensor, const Gathered& g);

/// Adds the bytes and elements of another tensor to `g`.
void add_part(Gathered& g, const TensorHeader& tensor, Size elements);

}  // namespace headroom::model
