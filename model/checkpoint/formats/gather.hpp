// A checkpoint's tensors as descriptions have them: experts stacked, what packed weights need
// (scales, zero points, maps) with the weight that needs it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/checkpoint/formats/tensor_header.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// What a checkpoint holds for one tensor of a description.
struct Gathered {
  std::string name;           ///< without the ending that packing gives
  Shape shape{};              ///< as stored; empty where several are stacked
  Size elements = 0;          ///< logical ones; -1: only the name is known
  bool packed = false;        ///< its stored shape is not the matrix's: elements alone compare
  bool assumed = false;       ///< its elements are counted as 4 bits each, which nothing says
  Size parts = 1;             ///< tensors that hold elements
  Bytes bytes{};              ///< of all that belong to it
  std::string_view dtype{};   ///< of the heaviest part
  bool used = false;          ///< taken by a tensor of the description
  std::string_view source{};  ///< name of its first tensor in the list, which must outlive this
};

/// Every tensor of `list` that holds parameters is in one row; what holds none goes with the weight
/// of its module, or nowhere (masks, position numbers, rotary tables).
std::vector<Gathered> gather(const TensorList& list);

/// Whether `g` can be `tensor`.
bool same_size(const Tensor& tensor, const Gathered& g);

/// Adds the bytes of one more tensor to `g`, and its elements.
void add_part(Gathered& g, const TensorHeader& tensor, Size elements);

}  // namespace headroom::model
