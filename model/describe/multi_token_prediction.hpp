// Multi-token-prediction modules (arXiv:2404.19737; DeepSeek-V3, arXiv:2412.19437, section 2.2).
// Checkpoints hold them. The reference's classes do not build them, so all other counts leave them
// out.
#pragma once

#include <string_view>

#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model {

struct MultiTokenPrediction {
  Size modules = 0;  ///< as the config says; 0: none
  /// Their tensors, named as in the checkpoint, with stacked experts, and their caches. `tied_to`
  /// names the tensor of the main model that a tensor copies. Each module is a block; modules that
  /// share a projection are one. Empty where the layout is not described.
  Part part{};
  bool together = false;      ///< the modules are stages of one pass that predicts all tokens
  std::string_view source{};  ///< source of the layout; empty if it is not described
};

/// The modules that a checkpoint of `config` holds besides `part`, which describes the same config.
/// A module has one more layer of the decoding stack, a projection of two hidden states to one, and
/// three norms. In elements:
///
///   layer + 2 * hidden * hidden + 3 * hidden, plus copies of embedding and head where they are
///   kept
///
/// Checked against published totals. Converted files may leave the modules out.
MultiTokenPrediction multi_token_prediction(const Config& config, const Part& part);

/// Source of the layout of such modules for a model_type; empty where it is not described.
std::string_view predictor_source(std::string_view model_type);

}  // namespace headroom::model
