// Recipes as rows: how a training run stores weights, gradients and optimizer states.
#pragma once

#include <span>
#include <string_view>

#include "model/train/tape/tape.hpp"

namespace headroom::model {

/// Bytes of each copy of one trained element.
struct Recipe {
  std::string_view name;
  std::string_view meaning;
  Size weight, gradient;
  Size master;      ///< fp32 copy that the optimizer updates; 0: it updates the weights
  Held parameters;  ///< the type of the layers' arithmetic
  bool autocast;    ///< matrices in bf16 over fp32 weights
  std::string_view source;
  /// For a base quantised by bitsandbytes alone. Its layers return the type of their input, and no
  /// copy of their weights exists (0.50 nn/modules.py, Linear4bit.forward, Linear8bitLt.forward).
  bool over_quantised = false;
  bool raises_rest = false;  ///< whatever is not quantised is in fp32: embeddings, the head, norms
  /// True if products are in fp32 too.
  bool computes_in_fp32() const { return parameters == Held::fp32 && !autocast && !over_quantised; }
  /// Bytes of the copy that the optimizer updates; its states match it.
  Size stepped() const { return master > 0 ? master : weight; }
};

std::span<const Recipe> recipes();
/// Throws UnknownName with the nearest names.
const Recipe& recipe(std::string_view name);

}  // namespace headroom::model
