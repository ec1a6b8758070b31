// Tensors as checkpoint headers declare them: names, types and shapes, without weights.
#pragma once

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

/// An invalid header, or one that is not understood. The message names the file, the tensor or key,
/// what was found and what would have worked.
class FormatError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A tensor of a file.
struct TensorHeader {
  std::string name;
  std::string_view dtype;  ///< in the file format's spelling: "BF16", "Q4_K"; static storage
  Shape shape;             ///< outermost dimension first, also for GGUF
  Bytes bytes;
  std::string file;  ///< its shard; empty for a single file

  Size elements() const;
};

/// The declarations of a file, or of all shards of a checkpoint.
struct TensorList {
  std::string origin;
  std::vector<TensorHeader> tensors;
  Bytes total;                       ///< tensor bytes, without headers
  std::vector<std::string> notes{};  ///< inconsistencies that are not errors
};

/// Reads `length` bytes of a file from `offset`; fewer at its end. The caller decides on the
/// source: a file or a range request.
using ReadRange = std::function<std::string(Size offset, Size length)>;

/// Bytes of `shape` at `bits` per element. Throws FormatError naming `tensor` if the count
/// overflows or does not fill whole bytes.
Bytes checked_bytes(const Shape& shape, Size bits, std::string_view origin,
                    std::string_view tensor);
/// Elements of `shape`, 1 for a scalar. Throws FormatError on overflow.
Size checked_elements(const Shape& shape, std::string_view origin, std::string_view tensor);

/// `name` in quotes for messages about untrusted files: shortened, and without control characters.
std::string shown_name(std::string_view name);

}  // namespace headroom::model
