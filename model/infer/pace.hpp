// Seconds of each pass of one copy while several requests run, and how long requests are.
#pragma once

#include "model/infer/block.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// How long prompts or outputs are, tokens: log-normal through the median and the 95th percentile.
///
///   mean = p50 * exp(s^2 / 2),  mean of squares = mean^2 * exp(s^2),  s = ln(p95 / p50) / 1.6449
///
/// p95 = p50: all alike.
struct Lengths {
  double p50 = 0, p95 = 0;
  double mean() const;
  double mean_square() const;
  double variance_share() const;       ///< variance / mean^2 = exp(s^2) - 1
  double at(double deviations) const;  ///< length so many standard deviations of its log away
};

/// Lengths with this median, and all alike where no `p95` above it is given; at least one token.
Lengths lengths_of(Size median, Size p95 = 0);

/// At least one token.
Size whole_tokens(double count);

/// Passes while `running` requests run, each followed by the next. Seconds.
///
/// Each of n pipeline stages has a share 1 / n of the requests at a time. A step covers that share,
/// and prefills of n requests overlap.
struct Pace {
  /// `asked.batch` requests at most. `block`: the scenario's, which outlives the pace. `fitted`:
  /// the plan of `asked`, where it is known and holds all of them; else null.
  Pace(const Scenario& asked, const Lengths& prompts, const Lengths& outputs, Block& block,
       const Plan* fitted = nullptr);

  Size running = 0;          ///< requests that memory admits; 0: not one, and nothing else is set
  Size stages = 1;           ///< pipeline stages
  Size prompt_tokens = 0;    ///< prompt of the mean request
  double output_tokens = 0;  ///< output of the mean request
  double cached_tokens = 0;  ///< mean of a running sequence
  double others = 0;         ///< other requests in the same pass
  double request = 0;        ///< fixed time of a request: front end, tokeniser, schedule
  double prompt = 0;         ///< prefill of a mean prompt alone
  double another = 0;        ///< each mean prompt in a pass that others share
  double delay = 0;          ///< by which each of those prompts holds up running requests
  double waits = 0;  ///< mean wait for the others' prompts, where requests follow each other
  double step = 0;   ///< decode step of the requests in one pass

  const Plan& plan() const { return plan_; }
  /// Prefill of a prompt with `length` tokens alone.
  double prompt_of(double length) const;

 private:
  Scenario one_;  ///< mean lengths, batch 1
  Plan plan_;
  Speeds* speeds_ = nullptr;
};

}  // namespace headroom::model
