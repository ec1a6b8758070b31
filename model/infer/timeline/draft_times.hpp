// How long a draft model takes to propose tokens, and the model to check them.
#pragma once

#include "model/infer/scenario/draft.hpp"
#include "model/infer/timeline/passes.hpp"

namespace headroom::model {

/// Tokens that one step gives: (1 - a^(k + 1)) / (1 - a) with acceptance a and k proposed tokens;
/// k + 1 for a = 1. Source: Leviathan et al., arXiv:2211.17192, equation 1.
double tokens_per_step(const Draft& draft);

/// Share of all proposed tokens that is kept.
double share_kept(const Draft& draft);

/// `engine` with intervals of a decode step that also cover those of acceptance and of
/// check_cost(). Logarithms of the factors add in quadrature, because the errors are independent.
Engine with_acceptance(Engine engine, const Draft& draft, const Acceptance& acceptance);

/// Overhead that each proposed token adds to a check beyond its FLOPs and bytes, as a share of a
/// decode step. Causes are kernels for few tokens, saved states to return to, and sampling. From
/// steps with and without proposals on one machine: (tokens a step) * (tokens/s without) /
/// (tokens/s with).
const Constant& check_cost();

/// Passes of the draft in a step: one for each proposed token, or one for all of a block.
Size draft_passes(const Draft& draft);

/// One step: passes of the draft, then one of the model over k + 1 tokens of each sequence. A draft
/// that proposes a block runs over k + 1 tokens, too: the last one that was kept and k masks.
/// Source: DFlash, arXiv:2602.06036.
struct DraftTimes {
  Timeline propose;  ///< one pass of the draft
  Timeline check;    ///< pass over k + 1 tokens of each sequence
  Timeline prompt;   ///< pass of the prompts through the draft model
  Seconds further;   ///< k * check_cost * decode step
  Seconds step;      ///< draft_passes * propose + check + further
};
DraftTimes draft_times(const Scenario& scenario, const Plan& plan,
                       TimelineDetail detail = TimelineDetail::segments);

}  // namespace headroom::model
