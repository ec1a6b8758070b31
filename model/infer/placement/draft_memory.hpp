// What a draft model holds beside the model whose tokens it proposes.
#pragma once

#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/draft.hpp"

namespace headroom::model {

/// The draft model alone, on the cards of one replica.
Scenario of_draft(const Scenario& scenario, Size shards);

/// What `card` holds of the draft model: divided as the model is by `shards` cards, where the
/// engine divides matrices (vLLM 0.19 config/speculative.py: draft_tensor_parallel_size is the
/// target's), else all of it on the first card that is used (`first`), its token embedding where
/// the engine keeps that. Its cache has as many tokens as the model's (vLLM 0.19
/// v1/core/kv_cache_utils.py: one table of blocks; llama.cpp common/speculative.cpp: the same
/// context). Left out: working memory, which the model's own is larger than.
struct DraftUse {
  Bytes weights, kv_cache;
};
DraftUse draft_on_card(const Scenario& scenario, Size shards, bool first);
/// What host memory holds of it: its token embedding, or all where nothing runs on cards.
DraftUse draft_on_host(const Scenario& scenario, const Plan& plan);

}  // namespace headroom::model
