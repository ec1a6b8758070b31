// A spec with every name looked up: what a sweep evaluates, point by point. All errors of the user
// surface here, before the first point.
#pragma once

#include <array>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hardware/catalogue.hpp"
#include "hardware/price.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/evaluator.hpp"
#include "model/train/shape.hpp"
#include "report/run_info.hpp"
#include "sweep/grid/exclusion.hpp"
#include "sweep/grid/extra_axes.hpp"
#include "sweep/grid/grid.hpp"
#include "sweep/spec/spec.hpp"
#include "sweep/training/grid.hpp"

namespace headroom::sweep {

class Engines;
class Hub;

/// A scenario of which nothing is decided yet: null, zero and, for the budget, negative.
inline constexpr model::Scenario undecided{
    .batch = 0, .prompt_tokens = 0, .output_tokens = 0, .gpu_budget = Bytes(-1)};

/// Change that one value of a digit makes to a scenario.
struct Choice {
  using Number = Size model::Scenario::*;  ///< sweep/grid/axes.hpp
  model::Scenario& numbers() { return decides; }

  const model::Model* model = nullptr;
  const model::Scheme* scheme = nullptr;  ///< null with a model: the checkpoint's own
  model::Scenario decides = undecided;
  /// Adapters, proposed tokens, images, text alone; null: not decided.
  std::array<const ServedExtra*, std::size(extra_axes)> extras{};
  std::optional<Budget> budget{};  ///< as asked; `decides` has what it is on the machine
  Size image_tokens = 0;           ///< tokens of images in every prompt
  bool as_published = false;       ///< is_as_published() of the weights

  bool operator==(const Choice&) const = default;
};

/// State with which one thread evaluates its points in sequence.
struct Evaluators {
  std::map<const Machine*, model::Evaluator> inference;  ///< machines and budgets turn fastest
  model::TrainingEvaluator training;
};

/// One [[grid]], looked up.
struct JobGrid {
  Grid grid{{}};
  std::vector<std::vector<Choice>> digits;  ///< choices of each digit, for inference
  bool has_least_context = false;           ///< each point has least_usual_context()
  std::unique_ptr<TrainingGrid> training;   ///< null: inference
  std::vector<Exclusion> exclusions;
  report::GridShape shape;  ///< the grid as the database keeps it

  bool excluded(std::span<const Size> point) const;
  /// Grid of inference.
  model::Scenario scenario(std::span<const Size> point) const;
  /// The outcome of a point of either task.
  model::Estimate evaluate(std::span<const Size> point, Evaluators& evaluators) const;
};

/// Owns everything that scenarios point to.
struct Job {
  std::vector<std::unique_ptr<model::Model>> models;
  std::vector<std::unique_ptr<model::QuantisedModel>> weights;
  std::vector<std::unique_ptr<Machine>> machines;
  std::vector<std::unique_ptr<ServedExtra>> extras;
  std::vector<std::unique_ptr<GivenDraft>> drafts;
  std::vector<std::unique_ptr<model::Model>> loaded_models;  ///< in forms of their engines
  std::vector<JobGrid> grids;
  std::shared_ptr<const Engines> engines;
  std::optional<Prices> prices;    ///< none: the user gave none
  std::vector<std::string> notes;  ///< parts of the spec without effect, in sentences

  Size points() const;  ///< sum over all grids, excluded ones counted
  /// The grid that point `index` of the whole run lies in, and its index there.
  std::pair<const JobGrid*, Size> locate(Size index) const;
  report::RunInfo info(const Spec& spec) const;
};

/// Throws SpecError, UnknownName, ConfigError and HubError. `catalogue` and `hub` are used during
/// the call only: models of the hub are fetched before the first point.
/// `engines`: null for those that are shipped.
Job make_job(const Spec& spec, const Catalogue& catalogue, const Hub& hub,
             std::shared_ptr<const Engines> engines = nullptr);

}  // namespace headroom::sweep
