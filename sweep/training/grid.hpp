// One [[grid]] of training, looked up: its digits, and the outcome of each of its points.
#pragma once

#include <array>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/train/training.hpp"
#include "report/run_info.hpp"
#include "sweep/spec/spec.hpp"

namespace headroom::model {
class TrainingEvaluator;
}

namespace headroom::sweep {

struct Names;

/// A point while its digits are put together.
struct TrainingDraft {
  using Number = Size model::TrainingScenario::*;  ///< sweep/grid/axes.hpp
  model::TrainingScenario& numbers() { return step; }

  model::TrainingScenario step;
  const Machine* machine = nullptr;
  std::string adapters = "full:0:";       ///< the value of that axis: method, rank and targets
  const model::Recipe* recipe = nullptr;  ///< null: the runtime's
  std::optional<model::Recomputation> recomputation;  ///< empty: the runtime's
  std::optional<int> zero;                            ///< empty: the runtime's
};

class TrainingGrid {
 public:
  /// Throws SpecError where a value is not understood.
  TrainingGrid(const Spec& spec, const GridSpec& grid, Names& names);

  const std::vector<report::Digit>& columns() const { return columns_; }
  model::Estimate evaluate(std::span<const Size> point, model::TrainingEvaluator& evaluator) const;

 private:
  struct Held {
    std::unique_ptr<model::QuantisedModel> plain;  ///< counted
    /// in nf4 where an axis asks for it: whole, and as runtimes load it that leave stacked experts
    std::array<std::unique_ptr<model::QuantisedModel>, 2> base;
  };

  void hold_all(const Spec& spec, const GridSpec& grid, const Names& names);

  bool says_sequence_;  ///< false: each model's own
  std::vector<std::vector<std::vector<std::function<void(TrainingDraft&)>>>>
      digits_;  ///< by digit and value
  std::vector<report::Digit> columns_;
  std::map<const model::Model*, Held> held_;
  std::map<std::pair<const model::Model*, std::string>, std::unique_ptr<model::Adapter>> adapters_;
};

}  // namespace headroom::sweep
