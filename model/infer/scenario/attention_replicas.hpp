// Replicas of a model that share its experts: each has the attention and the cache of its own
// requests.
#pragma once

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Cards that divide each matrix of a replica, as asked for; 0: as many as divide the model. With
/// expert parallelism alone they follow from the cards that share the experts. An engine that
/// shares experts on request (ParallelPolicy::attention_replicas) does so where whole replicas
/// would need more cards than there are.
Size asked_shards(const Scenario& scenario);

/// Replicas that share the experts; 1: each has all of them. Source: vLLM 0.19 fused_moe/config.py
/// FusedMoEParallelConfig.make; SGLang 0.5.23 layers/dp_attention.py, for --enable-dp-attention,
/// which spreads experts over more cards than a replica has.
Size sharing_replicas(const Scenario& scenario);

}  // namespace headroom::model
