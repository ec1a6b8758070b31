// What steps have in common that differ in sizes alone: worked out once, so that a sweep over
// batches, sequences, replicas and cards costs little a point.
#pragma once

#include <memory>
#include <vector>

#include "model/train/rank.hpp"
#include "model/train/tape/saved_activation.hpp"
#include "model/train/training.hpp"

namespace headroom::model {

/// One stage of the pipeline.
struct StageShape {
  RankShare elements;          ///< of the model on one card
  RankShare base;              ///< bytes of the frozen base; empty without adapters
  Size distinct = 0;           ///< elements of one gradient of each distinct matrix
  std::vector<Size> layers;    ///< how many of each kind of SavedActivations::kinds
  std::vector<double> widest;  ///< of each kind: live elements per token
};

struct StepShape {
  SavedActivations saved;
  Bytes states;      ///< of the optimizer over all that is trained, before sharing out
  Size adapted = 0;  ///< parameters of adapters
  double adapter_kept = 0,
         adapter_kept_in_tower = 0;  ///< bytes that adapters keep, a token or patch
  double adapter_lengths = 0;        ///< bytes of a forward for the lengths of DoRA's rows
  Size frozen_tower = 0;             ///< parameters of a vision tower that is not trained
  std::vector<StageShape> stages;
};

/// Evaluates one step after another; what the last one had in common with the next is not worked
/// out again. Order sizes (batch, sequence, passes, replicas, ZeRO from stage 1 on) innermost. One
/// thread at a time.
class TrainingEvaluator {
 public:
  TrainingEvaluator();
  ~TrainingEvaluator();
  TrainingEvaluator(const TrainingEvaluator&) = delete;
  TrainingEvaluator& operator=(const TrainingEvaluator&) = delete;
  /// As evaluate_training, but without terms in words.
  TrainingEstimate operator()(const TrainingScenario& scenario);
  /// Of the last scenario.
  const StepShape& shape() const;

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

}  // namespace headroom::model
