// Modules that predict further tokens (arXiv:2404.19737; DeepSeek-V3, arXiv:2412.19437, section
// 2.2): checkpoints hold them, the reference's classes do not make them, so no other count has
// them.
#pragma once

#include <string_view>

#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

struct MultiTokenPrediction {
  Size modules = 0;  ///< as the config says; 0: none
  /// Their tensors as the checkpoint names them, experts stacked as everywhere; `tied_to` names the
  /// main model's tensor that one is a copy of. Empty where the layout is not described.
  Part part{};
  std::string_view source{};  ///< of the layout; empty where it is not described
};

/// What a checkpoint of `config` holds beside `part`, which describes the same config. A module is
/// the last layer of the decoding stack again, a projection of two hidden states to one, and three
/// norms:
///
///   layer + 2 * hidden * hidden + 3 * hidden, and copies of embedding and head where they are kept
///
/// hidden in elements. Checked against published totals; files made by others may leave it out.
MultiTokenPrediction multi_token_prediction(const Config& config, const Part& part);

}  // namespace headroom::model
