// Optimizer states, counted from the shapes of the trained tensors. Each implementation has its own
// row, because packages may keep different states under the same name.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/describe/part.hpp"

namespace headroom::model {

/// Element type of a state.
enum class StateElement : std::uint8_t {
  parameter,  ///< same as the parameter's
  fp32,
  bf16,
  fp16,
  fp8,
  int8,
  uint8,
  boolean
};

/// A kind of state tensor. `shape` derives its shape from the parameter's.
struct StateRule {
  std::string_view name;  ///< name in the implementation; "#" stands for the number of a dimension
  /// null: same shape
  Shape (*shape)(const Shape& parameter, Size rank, Size dimension) = nullptr;
  StateElement element = StateElement::parameter;
  /// True if the state exists for this shape and element size. Null: always.
  bool (*kept)(const Shape& parameter, Size parameter_bytes) = nullptr;
  enum class For : std::uint8_t { each_tensor, each_dimension, each_group } counted = {};
  /// Shape of the storage that a view keeps alive. Null: the state's own shape.
  Shape (*storage)(const Shape& parameter, Size rank, Size dimension) = nullptr;
};

/// One implementation of an optimizer.
struct Optimizer {
  std::string_view names;  ///< accepted names separated by spaces, the canonical name first
  std::string_view package, class_name, options;
  std::span<const StateRule> states;
  /// Canonical name of the row for parameters that are no matrix of a layer (embeddings, head,
  /// norms, biases). Empty: this row trains everything.
  std::string_view others{};
  Size rank = 0;         ///< rank of low-rank projections; 0: none
  Size step_copies = 0;  ///< elements of states that a step duplicates for all tensors at once
  bool paged = false;    ///< states may be moved to host memory when the card is full
  /// Copies in fp32 that a step makes of one parameter at a time. Two of them, of weight and
  /// gradient, are made only where these are in 16 bit.
  Size step_tensors = 0;
  /// `step_copies` are made whatever the runtime's own choice (torch: foreach=True).
  bool foreach = false;
  std::string_view name() const { return names.substr(0, names.find(' ')); }
};

/// A state tensor of a parameter.
struct StateTensor {
  std::string name;
  Shape shape;
  StateElement element;
  Bytes bytes;
};

std::span<const Optimizer> optimizers();
/// Ignores case, "-" and "_". Throws UnknownName with the nearest names.
const Optimizer& optimizer(std::string_view name);

/// True if DeepSpeed has it for the CPU, where offloaded states are stepped on. Source: DeepSpeed
/// 0.19 runtime/engine.py _configure_basic_optimizer.
bool steps_on_host(const Optimizer& row);

/// Bytes of one element for a parameter with `parameter_bytes` an element.
Size bytes_of(StateElement element, Size parameter_bytes);

/// All state tensors that `row` keeps for a parameter of `shape` with `parameter_bytes` an element.
/// States kept once for a group of parameters are included. Source: recorded after one step of the
/// named package (tests/oracle/data/training). Left out: temporary tensors of a step.
std::vector<StateTensor> states_of(const Optimizer& row, const Shape& shape, Size parameter_bytes);

/// Bytes of the states of `row` for one parameter. `parameter.role` chooses between the row and its
/// `others`. States kept once for a group are left out.
Bytes state_bytes(const Optimizer& row, const Tensor& parameter, Size parameter_bytes);

/// Bytes of the states for every trained parameter of `part`; tied parameters count once.
Bytes optimizer_states(const Optimizer& row, const Part& part, Size parameter_bytes);

}  // namespace headroom::model
