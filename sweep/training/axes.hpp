// The axes of a grid of training.
#pragma once

#include <span>
#include <string>

#include "sweep/grid/axes.hpp"
#include "sweep/training/grid.hpp"

namespace headroom::sweep {

/// In the order of their digits: what steps have in common (model/train/shape.hpp) is outermost.
std::span<const Axis<TrainingDraft>> training_axes();

/// "lora:16:q_proj,v_proj" taken apart. Throws std::invalid_argument.
struct AdapterValue {
  std::string method;  ///< full, lora, dora, qlora, qdora
  model::AdapterRequest request;
  bool quantised = false;
};
AdapterValue adapter_value(const std::string& text);

}  // namespace headroom::sweep
