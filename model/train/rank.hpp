// The share of a model's weights on one card of a training run, by pipeline, tensor, expert and
// data parallelism.
#pragma once

#include "model/train/training.hpp"

namespace headroom::model {

/// Divides layers evenly among stages. If that is impossible, embedding and head count as one layer
/// each, so the first and last stage hold fewer. Any remainder is spread. Source: Megatron-LM,
/// --account-for-embedding-in-pipeline-split, --account-for-loss-in-pipeline-split.
Stage stage_of(const TrainingScenario& scenario, Size stage);

/// Elements on one card, or bytes for weights stored by a scheme.
struct RankShare {
  Size dense = 0;  ///< everything except experts
  Size experts = 0;
  Size largest_layer = 0;       ///< everything that one card uses of the largest layer
  Size embedding_and_head = 0;  ///< embedding and head
  Size total() const { return dense + experts; }
  bool operator==(const RankShare&) const = default;
};

/// The model in 16 bit without buffers, which are not trained. Used to count parameters.
QuantisedModel counted(const Model& model);

/// Trained or frozen elements of the model on a card of `stage`. Experts are spread over the
/// expert-parallel cards, and each is divided as matrices are. Source: Megatron-LM,
/// arXiv:1909.08053 (matrices), Narayanan et al., arXiv:2104.04473 (stages; a tied embedding is on
/// both end stages).
RankShare elements_of_rank(const TrainingScenario& scenario, Size stage);
/// Bytes of the frozen base on a card of `stage`.
RankShare base_of_rank(const TrainingScenario& scenario, Size stage);
/// Share of `adapted` adapter elements on one card of the fullest stage. One factor of each pair is
/// divided.
Size adapters_of_rank(const TrainingScenario& scenario, Size adapted);

/// The card's bytes of `dense` weights and `experts` that ZeRO shards from stage `from` on.
Bytes zero_share(const TrainingScenario& scenario, Bytes dense, Bytes experts, int from);

/// Elements of one gradient for every distinct matrix shape on a card, without the head. Queries,
/// keys and values form one matrix, as do gate and up. Source: Transformer Engine,
/// pytorch/module/base.py get_dummy_wgrad: placeholders are cached by shape.
Size distinct_matrices(const TrainingScenario& scenario, Size stage);

/// Elements of the largest parameter on a card. The experts of a layer are one parameter for gate
/// and up (transformers 5), others are as checkpoints have them.
Size largest_parameter(const TrainingScenario& scenario);

/// Throws ImpossibleStep naming the size that is not divisible and its divisor.
void check_parallelism(const TrainingScenario& scenario);

}  // namespace headroom::model
