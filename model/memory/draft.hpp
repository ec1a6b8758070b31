// Speculative decoding: a smaller model proposes tokens, and the model checks them in one pass.
#pragma once

#include "model/placement/placement.hpp"
#include "model/speed/record.hpp"
#include "model/speed/speed.hpp"

namespace headroom::model {

struct Draft {
  const Weights* weights = nullptr;
  Size tokens = 5;        ///< proposed in each step
  double acceptance = 0;  ///< share of proposed tokens that are kept, each independently; at most 1
};

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

/// Tokens that one step gives: (1 - a^(k + 1)) / (1 - a) with acceptance a and k proposed tokens;
/// k + 1 for a = 1. Source: Leviathan et al., arXiv:2211.17192, equation 1.
double tokens_per_step(const Draft& draft);

/// One step: k passes of the draft model and one of the model over k + 1 tokens of each sequence.
struct DraftTimes {
  PassTime propose;   ///< of one draft token
  PassTime check;     ///< of k + 1 tokens of each sequence
  double step = 0;    ///< seconds: k * propose + check
  double prompt = 0;  ///< seconds that the draft model takes for the prompts
};
/// What its times are added up from.
struct DraftRecords {
  Record propose, check, prompt;
};
DraftTimes draft_times(const Scenario& scenario, const Plan& plan, DraftRecords* records = nullptr);

}  // namespace headroom::model
