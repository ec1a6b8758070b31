// What one card of a training run holds of the model's weights: by pipeline stage, tensor, expert
// and data parallelism.
#pragma once

#include "model/train/training.hpp"

namespace headroom::model {

/// Stages hold equally many layers; where that is not possible, embedding and head count as a layer
/// each, so that the first and the last stage hold fewer (Megatron-LM,
/// --account-for-embedding-in-pipeline-split, --account-for-loss-in-pipeline-split), and what still
/// does not divide is spread.
Stage stage_of(const TrainingScenario& scenario, Size stage);

/// Elements on one card, or bytes where weights are held by a scheme.
struct RankShare {
  Size dense = 0;  ///< all but experts
  Size experts = 0;
  Size largest_layer = 0;       ///< all that one card uses of the largest layer
  Size embedding_and_head = 0;  ///< embedding and head
  Size total() const { return dense + experts; }
};

/// The model held in 16 bit without its buffers, which are not trained: what counts parameters.
QuantisedModel counted(const Model& model);

/// Trained or frozen elements of the model on a card of `stage`. Source: Megatron-LM,
/// arXiv:1909.08053 (matrices), Narayanan et al., arXiv:2104.04473 (stages; a tied embedding is on
/// both ends). Experts are spread over the expert-parallel cards, each divided as matrices are.
RankShare elements_of_rank(const TrainingScenario& scenario, Size stage);
/// The same of the frozen base, in bytes.
RankShare base_of_rank(const TrainingScenario& scenario, Size stage);
/// Of `adapted` elements of adapters those on one card of the fullest stage: of each pair of
/// factors, one is divided.
Size adapters_of_rank(const TrainingScenario& scenario, Size adapted);

/// Elements of one gradient of every distinct shape of matrix on a card, the head left out:
/// queries, keys and values are one matrix, gate and up likewise. Source: Transformer Engine,
/// pytorch/module/base.py get_dummy_wgrad: placeholders are cached by shape.
Size distinct_matrices(const TrainingScenario& scenario, Size stage);

/// Throws ImpossibleStep naming what does not divide by what.
void check_parallelism(const TrainingScenario& scenario);

}  // namespace headroom::model
