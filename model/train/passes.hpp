// Memory that a card keeps between the forward and backward pass, and memory of the loss.
#pragma once

#include <boost/container/small_vector.hpp>

#include "model/train/shape.hpp"

namespace headroom::model {

/// Tokens of a pass on all cards that share its sequences.
inline double tokens_of_pass(const TrainingScenario& s) {
  return real_count(s.batch) * real_count(s.sequence);
}
/// Tokens of a card: a pass's, divided by context parallelism.
inline double tokens_on_card(const TrainingScenario& s) {
  return tokens_of_pass(s) / real_count(s.parallel.context);
}

/// Bytes of one pass on a card of one stage.
struct Kept {
  double attention = 0, feed_forward = 0,
         embedding_and_head = 0;  ///< all layers; before and after the layers
  double layer = 0;               ///< the largest layer, without recomputation
  double inputs = 0;              ///< inputs of all layers, which full recomputation keeps
  double transient = 0;           ///< activation gradients in the layer with the most
};

/// Bytes of logits and of the loss at the two moments.
struct LossBytes {
  double forward_end = 0, backward_start = 0;
};

/// Saved activations by model, weight format and kernels, independent of sizes.
SavedActivations saved_of(const TrainingScenario& scenario);

/// True if gradients pass through the vision tower: it is trained or has adapters.
bool gradients_in_tower(const TrainingScenario& scenario);

/// True if layers keep quantised operands: inputs between forward and backward, and a copy of the
/// weights for each pass.
bool quantised_operands(const TrainingScenario& scenario);

/// Bytes that a layer of one kind keeps on a card, in any stage.
struct KeptByLayer {
  double all = 0, attention = 0;  ///< attention: at most all
  double input = 0;               ///< which full recomputation keeps
};
/// By kind, as SavedActivations::kinds.
using KeptByKinds = boost::container::small_vector<KeptByLayer, 4>;
KeptByKinds kept_by_kinds(const TrainingScenario& scenario, const StepShape& shape);

/// `kinds`: kept_by_kinds() of the step.
Kept kept_by_pass(const TrainingScenario& scenario, const StepShape& shape,
                  const KeptByKinds& kinds, Size stage);
/// Bytes that all layers of the stage write in forward, kept or not.
double made_by_pass(const TrainingScenario& scenario, const StepShape& shape, Size stage);

/// True if a pass with these images goes through layers of the kind.
bool runs(const SavedLayer& kind, const ImagesOfSample& images);

/// Throws ImpossibleStep if layers have modules whose saved activations are unknown and no
/// factor replaces them. Towers without gradients keep nothing.
void check_described(const TrainingScenario& scenario, const SavedActivations& saved);
/// Throws ImpossibleStep where flash-attn is asked for and a layer that runs has no such kernel.
void check_attention(const TrainingScenario& scenario, const SavedActivations& saved);

/// Throws ImpossibleStep, and std::invalid_argument for sizes below one.
void check_step(const TrainingScenario& scenario);
/// True if ZeRO is asked for and no two cards hold the same weights.
bool lacks_replicas(const TrainingScenario& scenario);

/// Memory on the fullest card of all stages, without terms in words.
TrainingEstimate memory_of_step(const TrainingScenario& scenario, const StepShape& shape);

/// Loss memory of the last stage.
LossBytes loss_bytes(const TrainingScenario& scenario, const SavedActivations& saved);

/// Passes whose activations a stage keeps at once, in passes of all its layers.
///
///   one chunk a stage: min(stages - stage, passes)
///   more: (2 * (stages - stage - 1) + (chunks - 1) * stages + 1) / chunks, at most passes
///
/// Source: Narayanan et al., arXiv:2104.04473, section 2.2 (1F1B, interleaved).
double passes_in_flight(const TrainingScenario& scenario, Size stage);

}  // namespace headroom::model
