// How a training run holds weights, gradients and optimizer states: recipes as rows.
#pragma once

#include <span>
#include <string_view>

#include "model/train/tape/tape.hpp"

namespace headroom::model {

/// Bytes of one trained element in each of its copies.
struct Recipe {
  std::string_view name;
  std::string_view meaning;
  Size weight, gradient;
  Size master;      ///< fp32 copy that the optimizer steps on; 0: it steps on the weights
  Held parameters;  ///< what layers compute with
  bool autocast;    ///< matrices in bf16 over fp32 weights
  std::string_view source;
  /// What the optimizer sees, and keeps its states beside.
  Size stepped() const { return master > 0 ? master : weight; }
};

std::span<const Recipe> recipes();
/// Throws UnknownName with the nearest names.
const Recipe& recipe(std::string_view name);

}  // namespace headroom::model
