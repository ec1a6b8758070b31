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
/// Sums of passes of a scenario, of the plan of Speeds::know_passes(). They are remembered there:
/// its scenarios differ only in sizes and budgets. A pass is made where it is not known.
class PassTimes {
 public:
  PassTimes(const Scenario& scenario, Speeds& speeds, const Plan& plan)
      : s_(scenario), speeds_(speeds), plan_(plan) {}

  /// As decode_pass(), of a step with one new token of each sequence.
  PassSeconds decode(CachedTokens cached) const;
  /// As step_pass().
  PassSeconds step() const;
  /// As prefill() of prompts with so many tokens. `decoding` sequences besides go through each part
  /// of it.
  Seconds prefill(Size prompt, Size decoding = 0) const;
  /// prompt_parts() of the scenario.
  double parts(Size prompt) const { return prompt_parts(s_, prompt, speeds_.chunk.of(s_)); }

 private:
  PassSeconds of_prompts(Size prompt, Size decoding) const;
  template <class F>
  PassSeconds known(const KnownPasses::Key& key, F&& pass) const;

  const Scenario& s_;
  Speeds& speeds_;
  const Plan& plan_;
};
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
