// The modules and tensors of a Part as a tree with sizes: what device mappers walk.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/part.hpp"

namespace headroom::model {

/// Sizes in eighths of a byte: accelerate counts a boolean as 1/8 byte and int4 as 1/2.
using Eighths = Size;

/// What one element of a floating tensor takes, by accelerate's rules; whole numbers keep their own
/// size. Absent: the tensor's own type.
struct MapperDtype {
  std::string name;
  Eighths element;  ///< float16 = 16, int8 = 8, int4 = 4, …
};
/// "float32", "float16", "bfloat16", "int8", "int4", "int2", "fp8" and their short forms; "none"
/// gives nothing. Throws UnknownName.
std::optional<MapperDtype> mapper_dtype(std::string_view name);

/// One module, parameter or buffer. Index 0 is the root; a node's subtree is [index, end).
struct Node {
  std::string path;
  std::string_view class_name;  ///< empty for a tensor
  Size end = 0;                 ///< one past its subtree
  Eighths size = 0;             ///< of every tensor below, tied ones once, with their first name
  Eighths own_size = 0;         ///< of the tensors directly in it
  Size first_tensor = -1;  ///< order of its first sized tensor (parameters first, then buffers)
  std::vector<Size> parameters, children, buffers;  ///< direct ones, in registration order
  bool is_tensor() const { return class_name.empty(); }
};

/// A model's tree. Refers to the Part, which outlives it.
class ModuleTree {
 public:
  /// `held_element`: size of a floating element as the model is held (32 for float32).
  ModuleTree(const Part& part, std::optional<MapperDtype> dtype, Eighths held_element = 32);
  /// `sizes`: what each tensor of the part takes; a tied one as much as its owner.
  ModuleTree(const Part& part, std::span<const Eighths> sizes);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(Size i) const { return nodes_[static_cast<std::size_t>(i)]; }
  /// Names that share storage, each group sorted; nodes by the same index in `tied_nodes`.
  const std::vector<std::vector<std::string>>& tied() const { return tied_; }
  Size find(std::string_view path) const;  ///< -1 where there is none

 private:
  std::vector<Node> nodes_;
  std::vector<std::vector<std::string>> tied_;
  std::unordered_map<std::string, Size> index_;
};

}  // namespace headroom::model
