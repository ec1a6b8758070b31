// Memory of one training step on one card, term by term: a scenario of its own beside inference's,
// since the two share a model and a machine and nothing else.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/adapter.hpp"
#include "model/estimate.hpp"
#include "model/optimizer.hpp"
#include "model/recipe.hpp"

namespace headroom::model {

enum class Recomputation : std::uint8_t { none, full };

/// One training step with its names resolved.
struct TrainingScenario {
  const Model* model = nullptr;
  const Weights* base = nullptr;     ///< how frozen weights are held; null: as the recipe says
  const Adapter* adapter = nullptr;  ///< null: every weight is trained
  const Optimizer* optimizer = nullptr;
  const Recipe* recipe = nullptr;
  Size batch = 1, sequence = 2048;  ///< sequences of a pass on one card, tokens of each
  Size accumulated = 1;             ///< passes before a step
  Size replicas = 1;                ///< data parallel cards
  int zero = 0;                     ///< ZeRO stage: what replicas share out
  Recomputation recomputation = Recomputation::none;
  bool fused_attention = true;
  bool fused_loss = false;     ///< logits in chunks, never whole
  bool fused_kernels = false;  ///< Liger: norms, gating and rotation keep no steps between
  bool optimizer_on_host = false;
};

/// Bytes on one card. What the host holds instead is apart.
struct TrainingEstimate {
  Bytes weights, master, gradients, states;
  Bytes activations;  ///< kept between forward and backward
  Bytes recomputed;   ///< of the layer that is being made again
  Bytes loss;         ///< logits, log-probabilities and their gradients
  Bytes gathered;     ///< parameters gathered, gradients on the way
  Bytes step;         ///< temporaries of the optimizer's step
  Bytes context, fragmentation;
  Bytes at_backward, at_step;  ///< use when backward starts, and during the step
  Bytes peak;                  ///< the larger of the two, with context and fragmentation
  Bytes host;
  Size trained = 0, frozen = 0;  ///< parameters
  bool peak_at_step = false;
  bool exact_layers = true;  ///< every layer's modules are understood
  std::vector<Term> terms;
};

/// Throws std::invalid_argument for sizes that do not go together.
TrainingEstimate evaluate_training(const TrainingScenario& scenario);

}  // namespace headroom::model
