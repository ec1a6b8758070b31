// What an optimizer keeps beside the weights, counted from the shapes of the tensors it trains: one
// row an implementation, since two packages that carry the same name may keep different things.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/describe/part.hpp"

namespace headroom::model {

/// What the elements of a state are held in.
enum class StateElement : std::uint8_t {
  parameter,  ///< as the parameter itself
  fp32,
  bf16,
  fp16,
  fp8,
  int8,
  uint8,
  boolean
};

/// One kind of state tensor; `shape` makes its shape from that of the parameter.
struct StateRule {
  std::string_view name;  ///< as the implementation calls it; "#": the number of a dimension
  Shape (*shape)(const Shape& parameter, Size rank, Size dimension) = nullptr;  ///< null: the same
  StateElement element = StateElement::parameter;
  /// Whether it is kept for that shape and bytes of an element; null: always.
  bool (*kept)(const Shape& parameter, Size parameter_bytes) = nullptr;
  enum class For : std::uint8_t { each_tensor, each_dimension, each_group } counted = {};
  /// Of the storage that a view keeps alive; null: its own shape.
  Shape (*storage)(const Shape& parameter, Size rank, Size dimension) = nullptr;
};

/// One implementation of an optimizer.
struct Optimizer {
  std::string_view names;  ///< what it is asked for by, the first one canonical; apart by spaces
  std::string_view package, class_name, options;
  std::span<const StateRule> states;
  /// Canonical name of the row that trains what is no matrix of a layer (embeddings, head, norms,
  /// biases); empty: this row trains all.
  std::string_view others{};
  Size rank = 0;  ///< of low-rank projections; 0: none
  Size step_copies =
      0;               ///< states' elements that a step holds a second time for all tensors at once
  bool paged = false;  ///< states may be moved to host memory when the card is full
  std::string_view name() const { return names.substr(0, names.find(' ')); }
};

/// One state tensor of one parameter.
struct StateTensor {
  std::string name;
  Shape shape;
  StateElement element;
  Bytes bytes;
};

std::span<const Optimizer> optimizers();
/// Case and "-", "_" do not matter. Throws UnknownName with the nearest names.
const Optimizer& optimizer(std::string_view name);

/// Bytes of one element, for a parameter held in `parameter_bytes`.
Size bytes_of(StateElement element, Size parameter_bytes);

/// Every state tensor that `row` keeps for a parameter of `shape` whose elements take
/// `parameter_bytes`; what is kept once for a group of parameters is among them.
/// Source: recorded after one step of the named package (tests/oracle/data/training). Left out:
/// what a step allocates and frees.
std::vector<StateTensor> states_of(const Optimizer& row, const Shape& shape, Size parameter_bytes);

/// Bytes of the states of `row` for one parameter, by the same rules; `parameter.role` decides
/// between the row and its `others`. What is kept once for a group is left out.
Bytes state_bytes(const Optimizer& row, const Tensor& parameter, Size parameter_bytes);

/// The same over every trained parameter of `part`, tied ones once.
Bytes optimizer_states(const Optimizer& row, const Part& part, Size parameter_bytes);

}  // namespace headroom::model
