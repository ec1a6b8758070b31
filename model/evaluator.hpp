// Estimates one scenario after another, as `evaluate` does: what the last one has in common with
// the next is not worked out again.
#pragma once

#include <optional>

#include "model/placement/placement.hpp"
#include "model/speed/speed.hpp"
#include "model/speed/speeds.hpp"

namespace headroom::model {

/// Order budgets innermost, then all else that is not weights, machine or runtime. What scenarios
/// point to stays as it is while this lives. One thread at a time.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  Estimate operator()(const Scenario& scenario);

 private:
  void prepare(const Scenario& scenario);
  const Speeds& speeds(const Plan& plan);
  void add_outcome(const Uses& uses, const Plan& plan, Estimate& estimate);
  void add_times(const Uses& uses, const Plan& plan, Estimate& estimate);

  Scenario s_;        ///< the last one: all below points to it
  Reason refusal_{};  ///< whatever its budgets are; so with all below
  std::optional<Uses> uses_;
  std::optional<TimedPass> prompts_, step_;
  std::optional<Speeds>
      speeds_;  ///< the same for all scenarios with its weights, machine, runtime, threads
};

}  // namespace headroom::model
