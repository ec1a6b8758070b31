// Memory of a draft model, in addition to the target model's.
#pragma once

#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/draft.hpp"

namespace headroom::model {

/// Weights of a draft model, wherever they are.
Bytes draft_bytes(const Scenario& scenario);

/// The draft model alone, on the cards of one replica.
Scenario of_draft(const Scenario& scenario, Size shards);

/// Part of the draft model on `card`. If the engine divides matrices, `shards` cards divide it like
/// the model (vLLM 0.19 config/speculative.py: draft_tensor_parallel_size is the target's).
/// Otherwise the first used card (`first`) has all of it, and its token embedding is where the
/// engine keeps that. Its cache has as many tokens as the model's (vLLM 0.33
/// v1/core/kv_cache_planning.py: one pool of pages; llama.cpp common/speculative.cpp: equal
/// context). Left out: working memory, because the model's own is larger.
struct DraftUse {
  Bytes weights, kv_cache;
};
DraftUse draft_on_card(const Scenario& scenario, Size shards, bool first);
/// Part of it in host memory: its token embedding, or all of it if nothing runs on cards.
DraftUse draft_on_host(const Scenario& scenario, const Plan& plan);

}  // namespace headroom::model
