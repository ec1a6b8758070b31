// How long a pass takes: a roofline over the tensors that are read and multiplied, device by
// device.
#pragma once

#include "model/infer/timeline/speeds.hpp"
#include "model/infer/timeline/timeline.hpp"

namespace headroom::model {

/// A pass, with the times that depend neither on the placement nor on budgets.
struct TimedPass {
  TimedPass(const Scenario& scenario, const Speeds& speeds, const Pass& pass);

  Pass pass;
  double kernels;    ///< launched kernels in total
  Seconds launches;  ///< hidden or not
};
/// `speeds` must know the plan's cards.
Timeline time_of(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                 const TimedPass& pass, TimelineDetail detail = TimelineDetail::segments);
/// Sums of time_of(), of the plan of Speeds::know_passes(). They are remembered there: its
/// scenarios differ only in sizes and budgets.
PassSeconds seconds_of(const Scenario& scenario, Speeds& speeds, const Plan& plan,
                       const Pass& pass);
/// Likewise of prefill().
Seconds prefill_seconds(const Scenario& scenario, Speeds& speeds, const Plan& plan,
                        const Pass& prompts);
/// The prompts of all sequences up to the first token. Their images go through the tower after it.
Timeline prefill(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                 const TimedPass& prompts, TimelineDetail detail = TimelineDetail::segments);
/// `prompt`: tokens per sequence.
Timeline prefill(const Scenario& scenario, const Speeds& speeds, const Plan& plan, Size prompt);
Timeline prefill(const Scenario& scenario, const Plan& plan, Size prompt,
                 TimelineDetail detail = TimelineDetail::segments);

/// One decode step of every sequence with `tokens` cached.
Timeline decode_step(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                     CachedTokens tokens);
Timeline decode_step(const Scenario& scenario, const Plan& plan, CachedTokens tokens,
                     TimelineDetail detail = TimelineDetail::segments);
/// A decode step of a draft model that runs one of `modules` equal groups of its layers.
Timeline propose_step(const Scenario& draft, const Plan& plan, Size modules,
                      TimelineDetail detail = TimelineDetail::segments);
/// A pass over `each` new tokens of every sequence, to check what a draft model proposed.
Timeline check_step(const Scenario& scenario, const Plan& plan, CachedTokens tokens, Size each,
                    TimelineDetail detail = TimelineDetail::segments);
/// The pass that repeats for every output token (step_pass).
Timeline step(const Scenario& scenario, const Plan& plan,
              TimelineDetail detail = TimelineDetail::segments);

}  // namespace headroom::model
