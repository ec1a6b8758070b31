// Tensors as the headers of checkpoint files declare them: names, types and shapes, without
// weights.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// A header that cannot be right, or that is not understood. The message names the file, the tensor
/// or key, what was found and what would have worked.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One tensor of a file.
struct TensorHeader {
  std::string name;
  std::string_view dtype;  ///< as the file's format spells it: "BF16", "Q4_K"; static storage
  Shape shape;             ///< outermost dimension first, also for GGUF
  Bytes bytes;
  std::string file;  ///< the shard that holds it; empty for a single file

  Size elements() const;
};

/// What a file, or all shards of a checkpoint, declare.
struct TensorList {
  std::string origin;
  std::vector<TensorHeader> tensors;
  Bytes total;                       ///< of the tensors, without headers
  std::vector<std::string> notes{};  ///< what disagrees and is not an error
};

/// `length` bytes of a file from `offset` on; short at its end. How the bytes come (a file, a range
/// request) is the caller's business.
using ReadRange = std::function<std::string(Size offset, Size length)>;

/// Bytes of `shape` at `bits` per element. Throws FormatError naming `tensor` when the count
/// overflows or does not fill whole bytes.
Bytes checked_bytes(const Shape& shape, Size bits, std::string_view origin,
                    std::string_view tensor);
/// Elements of `shape`, 1 for a scalar. Throws FormatError on overflow.
Size checked_elements(const Shape& shape, std::string_view origin, std::string_view tensor);

/// `name` in quotes, cut to a readable length, without control characters: for messages about files
/// that lie.
std::string shown_name(std::string_view name);

}  // namespace headroom::model
