// The axes of a training grid as rows: key of the spec, columns of the database, and what a value
// puts into a step.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>

#include "sweep/training/grid.hpp"

namespace headroom::sweep {

struct TrainingAxis {
  std::string_view key;
  std::string_view column;  ///< empty: columns of its own (models, machines, runtimes, adapters)
  std::string_view usual;   ///< the value without the key; empty: none, and no column
  bool whole = false;       ///< values are whole numbers, as ranges too
  Size least = 1;           ///< of them
  /// Throws std::invalid_argument, UnknownName.
  std::function<void(TrainingDraft&)> (*value)(const std::string& text, Names& names) = nullptr;
};

/// In the order of their digits: what steps have in common (model/train/shape.hpp) is outermost.
std::span<const TrainingAxis> training_axes();

/// "lora:16:q_proj,v_proj" taken apart. Throws std::invalid_argument.
struct AdapterValue {
  std::string method;  ///< full, lora, dora, qlora, qdora
  model::AdapterRequest request;
  bool quantised = false;
};
AdapterValue adapter_value(const std::string& text);

}  // namespace headroom::sweep
