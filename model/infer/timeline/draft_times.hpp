// How long a draft model takes to propose tokens, and the model to check them.
#pragma once

#include "model/infer/scenario/draft.hpp"
#include "model/infer/timeline/record.hpp"
#include "model/infer/timeline/speed.hpp"

namespace headroom::model {

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
