// Estimates one scenario after another, as `evaluate` does: what the last one has in common with
// the next is not worked out again.
#pragma once

#include <memory>
#include <optional>
#include <utility>

#include "model/infer/block.hpp"
#include "model/infer/confidence.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/load.hpp"
#include "model/infer/timeline/passes.hpp"

namespace headroom::model {

/// Order budgets innermost, then sizes (batch, tokens), then all else. Objects that scenarios point
/// to must not change while this lives. One thread at a time.
class Evaluator {
 public:
  Evaluator() = default;
  Evaluator(const Evaluator&) = delete;
  Evaluator& operator=(const Evaluator&) = delete;
  Estimate operator()(const Scenario& scenario);

 private:
  /// Scenarios are of that block alone, and say with how many sequences the engine was started.
  explicit Evaluator(std::shared_ptr<Block> block) : of_block_(true), block_(std::move(block)) {}

  /// Results of a placement that do not depend on budgets.
  struct Outcome {
    Plan plan;
    bool card_usable = false;  ///< under the budget
    Bytes ram_budget;          ///< host memory, including the page cache
    Bytes overhead;            ///< on the first card that is used, all but weights
    Estimate estimate;         ///< without what depends on budgets

    void add_memory(const Uses& uses);
  };

  /// The load time under a plan.
  struct Loading {
    Plan plan;
    Bytes ram_budget;
    LoadTime time;
  };

  void prepare(const Scenario& scenario);
  /// The estimate under the scenario's placement.
  Estimate of_plan(const Plan& plan, HighEnd high);
  const Outcome& outcome(const Plan& plan);
  void add_times(const Uses& uses, const Plan& plan, Estimate& estimate);
  const LoadTime& loading(const Uses& uses, const Plan& plan);
  PassSeconds seconds_of_step(const Plan& plan);
  /// The estimate of another scenario, which says with how many sequences this one runs.
  Estimate in_place_of(const Scenario& changed);
  /// For a batch that waits in part: the estimate of the running part, with the confidence that the
  /// engine starts.
  Estimate with_waiting(Scenario running);
  Reason refused_context();
  Estimate refused(Reason reason, Bytes short_bytes = {}) const;

  bool of_block_ = false;                         ///< true: made for scenarios of one block
  Scenario s_;                                    ///< the last one: all below points to it
  Reason lasting_refusal_{};                      ///< as lasting as block_
  std::optional<bool> rejects_beyond_positions_;  ///< likewise; not known before it is asked
  Reason refusal_{};                              ///< whatever its budgets are; so with all below
  std::optional<Outcome> last_;  ///< the last placement: the next budget's is often equal
  std::optional<Uses> uses_;
  std::optional<TimedPass> prompts_, step_;
  std::shared_ptr<Block> block_;        ///< scenarios like the last one
  std::optional<Loading> loading_;      ///< likewise: weights do not depend on sizes
  std::unique_ptr<Evaluator> running_;  ///< evaluator for in_place_of()
};

}  // namespace headroom::model
