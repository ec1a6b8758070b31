// What a card keeps between the forward and the backward pass, and what the loss takes.
#pragma once

#include "model/train/shape.hpp"

namespace headroom::model {

/// Bytes of one pass on a card of one stage.
struct Kept {
  double attention = 0, feed_forward = 0,
         embedding_and_head = 0;  ///< of all layers; before and after them
  double made = 0;                ///< by all layers forward, kept or not
  double layer = 0;               ///< the largest layer's, nothing left out
  double inputs = 0;              ///< inputs of all layers, which full recomputation keeps
  double transient = 0;           ///< gradients of activations in the layer that has most
};

/// Bytes of logits and what the loss makes of them, at the two moments.
struct LossBytes {
  double forward_end = 0, backward_start = 0;
};

/// What follows from the model, how it is held and which kernels run; independent of sizes.
SavedActivations saved_of(const TrainingScenario& scenario);

/// Whether gradients run through the vision tower: it is trained, or adapters stand in it.
bool gradients_in_tower(const TrainingScenario& scenario);

/// Matrices of layers are kept quantised: inputs between forward and backward, weights in a copy
/// for either pass.
bool quantised_operands(const TrainingScenario& scenario);

Kept kept_by_pass(const TrainingScenario& scenario, const StepShape& shape, Size stage);

/// Throws std::invalid_argument where layers have modules of which it is not known what they keep,
/// and no factor stands in for it. Towers that nothing runs through keep nothing.
void check_described(const TrainingScenario& scenario, const SavedActivations& saved);

/// Throws ImpossibleStep, and std::invalid_argument for sizes below one.
void check_step(const TrainingScenario& scenario);

/// On the fullest card of all stages, without terms in words.
TrainingEstimate memory_of_step(const TrainingScenario& scenario, const StepShape& shape);

/// Of the last stage.
LossBytes loss_bytes(const TrainingScenario& scenario, const SavedActivations& saved);

/// Passes whose activations a stage keeps at once, in passes of all its layers.
///
///   one chunk a stage: min(stages - stage, passes)
///   more: (2 * (stages - stage - 1) + (chunks - 1) * stages + 1) / chunks, at most passes
///
/// Source: Narayanan et al., arXiv:2104.04473, section 2.2 (1F1B, interleaved).
double passes_in_flight(const TrainingScenario& scenario, Size stage);

}  // namespace headroom::model
