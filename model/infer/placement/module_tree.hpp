// The modules and tensors of a Part as a tree with sizes: what device mappers walk.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "model/describe/part.hpp"

namespace headroom::model {

/// Sizes in eighths of a byte: accelerate counts a boolean as 1/8 byte and int4 as 1/2.
using Eighths = Size;

/// Bytes of one element of a floating tensor by accelerate's rules. Integers keep their own size.
/// Absent: the tensor's own type.
struct MapperDtype {
  std::string name;
  Eighths element;  ///< float16 = 16, int8 = 8, int4 = 4, …
};
/// "float32", "float16", "bfloat16", "int8", "int4", "int2", "fp8" and their short forms; "none"
/// gives nothing. Throws UnknownName.
std::optional<MapperDtype> mapper_dtype(std::string_view name);

/// Size of tensors for a mapper. accelerate's compute_module_sizes counts a boolean as 1/8 byte.
/// transformers 5.23.0 integrations/accelerate.py counts it as a byte. It omits a tied tensor if
/// its first name is the head's, because the embedding's counts.
enum class Counting { accelerate, transformers };

/// One module, parameter or buffer. Index 0 is the root; a node's subtree is [index, end).
struct Node {
  std::string path;
  std::string_view class_name;  ///< empty for a tensor
  Size end = 0;                 ///< one past its subtree
  Size first_tensor = -1;  ///< order of its first sized tensor (parameters first, then buffers)
  bool tied = false;       ///< "path." occurs in the dotted name of a tensor that is tied
  std::vector<Size> parameters, children, buffers;  ///< direct ones, in registration order
  bool is_tensor() const { return class_name.empty(); }
};

/// A model's tree. Refers to the Part, which outlives it. Building it is most of the work; the same
/// tree is measured again for another type.
class ModuleTree {
 public:
  /// `held_element`: size of a floating element as the model is held (32 for float32).
  ModuleTree(const Part& part, const std::optional<MapperDtype>& dtype, Eighths held_element = 32,
             Counting counting = Counting::accelerate);
  /// `sizes`: what each tensor of the part takes; a tied one as much as its owner.
  ModuleTree(const Part& part, std::span<const Eighths> sizes);
  ModuleTree(const ModuleTree&) = delete;
  ModuleTree(ModuleTree&&) = default;
  ModuleTree& operator=(ModuleTree&&) = default;

  void measure(const std::optional<MapperDtype>& dtype, Eighths held_element = 32,
               Counting counting = Counting::accelerate);
  void measure(std::span<const Eighths> sizes);

  const std::vector<Node>& nodes() const { return nodes_; }
  const Node& node(Size i) const { return nodes_[static_cast<std::size_t>(i)]; }
  /// Every tensor below, tied ones once, with their first name.
  Eighths size(Size i) const { return sizes_[static_cast<std::size_t>(i)]; }
  /// Names that share storage, each group sorted.
  const std::vector<std::vector<std::string>>& tied() const { return tied_; }
  Size find(std::string_view path) const;  ///< -1 where there is none

 private:
  /// A tensor that counts: of a tied group the first.
  struct Counted {
    std::size_t node, tensor;
    Size elements;
    Element element;
    bool owned;  ///< it is no head that is tied to an embedding further on
  };
  explicit ModuleTree(const Part& part);
  void add_nodes(const Part& part);
  void tie(const Part& part);
  void count(const Part& part);
  void add_up();

  std::vector<Node> nodes_;  // never grows after it is built: index_ refers to its paths
  std::vector<std::size_t> parents_;
  std::vector<Eighths> sizes_;
  std::vector<Counted> counted_;
  std::vector<std::vector<std::string>> tied_;
  std::unordered_map<std::string_view, Size> index_;
};

}  // namespace headroom::model
