// The state that steps share if they differ in sizes only. It is computed once, so that a sweep
// over batches, sequences, replicas and cards costs little a point.
#pragma once

#include <memory>
#include <vector>

#include "model/train/rank.hpp"
#include "model/train/tape/saved_activation.hpp"
#include "model/train/training.hpp"

namespace headroom::model {

/// A stage of the pipeline.
struct StageShape {
  Stage ends;                  ///< its layers
  bool repeats = false;        ///< like the stage before it; neither has an end of the model
  bool is_no_slower = false;   ///< a pass over it takes no longer than one over the first stage
  RankShare elements;          ///< share of the model on one card
  RankShare base;              ///< bytes of the frozen base; empty without adapters
  Size distinct = 0;           ///< elements of one gradient of each distinct matrix
  std::vector<Size> layers;    ///< number of layers of each kind in SavedActivations::kinds
  std::vector<double> widest;  ///< live elements per token, for each kind
  Size routed = 0;             ///< layers with experts
  Size chosen = 0;             ///< experts that a token goes to, in all layers together

  /// True if a card holds as much of either.
  bool holds_as(const StageShape& other) const {
    return ends.has_embedding == other.ends.has_embedding && ends.has_head == other.ends.has_head &&
           ends.last - ends.first == other.ends.last - other.ends.first &&
           elements == other.elements && base == other.base && distinct == other.distinct &&
           layers == other.layers && widest == other.widest;
  }
};

struct StepShape {
  SavedActivations saved;
  Bytes states;      ///< optimizer states of everything trained, before sharding
  Size adapted = 0;  ///< parameters of adapters
  double adapter_kept = 0,
         adapter_kept_in_tower = 0;  ///< bytes that adapters keep for a token or patch
  RealBytes adapter_lengths{};       ///< bytes of a forward for DoRA's row norms
  bool learned_positions = false;    ///< beyond them, no token has one
  Size frozen_tower = 0;             ///< parameters of a frozen vision tower
  std::vector<StageShape> stages;
};

/// Evaluates steps one after another and reuses what a step shares with the last one. Vary sizes
/// (batch, sequence, passes, replicas, ZeRO from stage 1 on) in the innermost loop. Not
/// thread-safe.
class TrainingEvaluator {
 public:
  TrainingEvaluator();
  ~TrainingEvaluator();
  TrainingEvaluator(const TrainingEvaluator&) = delete;
  TrainingEvaluator& operator=(const TrainingEvaluator&) = delete;
  /// Like evaluate_training, without terms in words.
  TrainingEstimate operator()(const TrainingScenario& scenario);
  /// The terms of a step that are known even if the activations of its layers are not described.
  TrainingFloor floor(const TrainingScenario& scenario);
  /// Shape of the last scenario.
  const StepShape& shape() const;

 private:
  struct Memory;
  const StepShape& shape_for(const TrainingScenario& scenario);
  std::unique_ptr<Memory> memory_;
};

}  // namespace headroom::model
