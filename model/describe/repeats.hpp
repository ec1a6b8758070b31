// Layers of a model that repeat an earlier one. Most of the work on a model is done once for each
// kind of layer.
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "model/describe/part.hpp"

namespace headroom::model {

struct Layer;

/// The layer of each tensor. `before_blocks`: embeddings, and tensors registered before the first
/// decoding layer. `after_blocks`: every other tensor outside the layers.
inline constexpr Size before_blocks = -1, after_blocks = -2;

/// A half-open range of a model's tensors or modules.
struct TableRange {
  std::size_t first = 0, last = 0;
  std::size_t size() const { return last - first; }
};

/// Which layers of a model are equal but for their number: the same tensors, modules and classes
/// under the same names, in one stack. A layer whose tensors do not stand together, and one whose
/// equal stands further back than a few kinds of layers, repeats none.
class Repeats {
 public:
  Repeats() = default;
  /// `blocks`: the layer of each tensor.
  Repeats(const Part& part, const std::vector<Layer>& layers, std::vector<Size> blocks);

  /// The layer of each tensor, or `before_blocks`, or `after_blocks`.
  const std::vector<Size>& blocks() const { return blocks_; }
  /// The tensor of an earlier layer that `tensor` repeats; else itself.
  std::size_t first_tensor(std::size_t tensor) const { return first_[tensor]; }
  /// False for modules of layers that repeat an earlier one.
  bool is_first_module(std::size_t module) const { return first_module_[module]; }
  /// The earlier layer that `layer` repeats; else itself.
  std::size_t first_layer(std::size_t layer) const { return first_layer_[layer]; }
  /// The numbers of the tensors of a layer, of `before_blocks` or of `after_blocks`.
  std::span<const std::size_t> members(Size block) const;
  /// The tensors of a layer. Empty where they do not stand together.
  TableRange tensors(std::size_t layer) const { return tensors_[layer]; }
  /// Likewise its modules.
  TableRange modules(std::size_t layer) const { return modules_[layer]; }

 private:
  std::size_t place_of(Size block) const;
  void find_members();
  void find_tensors();
  void find_modules(const Part& part, const std::vector<Layer>& layers);
  bool repeats(const Part& part, const std::vector<Layer>& layers, std::size_t layer,
               std::size_t earlier) const;

  std::vector<Size> blocks_;
  std::vector<std::vector<std::size_t>> members_;  ///< by layer, then before and after all
  std::vector<TableRange> tensors_, modules_;      ///< by layer
  std::vector<std::size_t> first_, first_layer_;
  std::vector<bool> first_module_;
};

}  // namespace headroom::model
