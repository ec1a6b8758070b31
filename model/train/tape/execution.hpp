// Statements of a config about how a model runs, beyond the tensors it owns.
#pragma once

#include "hardware/units.hpp"

namespace headroom::model {

class Config;
struct Model;

/// Shares dropped in training, soft caps, and how residuals are arranged. For a vision-language
/// config, they are those of its text model.
struct Execution {
  double attention_dropout = 0;  ///< dropout of attention's probabilities
  double hidden_dropout = 0;     ///< dropout of the outputs of attention and feed-forward
  double embedding_dropout = 0;
  double attention_softcap = 0, logit_softcap = 0;  ///< 0: none
  bool parallel_residual = false;  ///< attention and feed-forward read the same residual
  bool normalised_routing = true;  ///< weights of the chosen experts sum to one
  Size tower_heads = 16;           ///< heads of vision towers; published ones have 16 (CLIP-L,
                                   ///< SigLIP so400m, Pixtral, Qwen's)
  bool linear_positions = false;   ///< ALiBi: a bias on the scores instead of rotations
};
Execution execution_of(const Config& config);

/// The defaults of the model's class, which published configs rely on. Source: transformers 5.23,
/// configuration files.
Execution usual_execution(const Model& model);

}  // namespace headroom::model
