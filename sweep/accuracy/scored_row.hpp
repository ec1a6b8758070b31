// A canonical row as something that can be estimated: the scenario it was taken in, and the figure
// of the estimate that it is.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "sweep/accuracy/quantity.hpp"
#include "sweep/accuracy/row_models.hpp"
#include "sweep/options/options.hpp"
#include "sweep/options/speculation.hpp"

namespace headroom::sweep {

struct ScoredRow {
  const Measurement* row = nullptr;
  model::Scenario scenario;
  std::string group;
  Statistic statistic = Statistic::step;
  std::size_t index = 0;  ///< index of a card
  double measured = 0;    ///< bytes or seconds
  Size requests = 0;      ///< requests of a run that ends; 0: a steady state
  /// Share of the requests that start together, of a first token (ServingPolicy::queue); empty: not
  /// stated.
  std::optional<double> together = {};
};

/// Reads canonical rows into scenarios, and keeps what these point to.
class Subjects {
 public:
  /// With the engines' rows as they are, or with `runtimes` in their place.
  explicit Subjects(const std::string& models_folder);
  Subjects(const std::string& models_folder, std::vector<model::Engine> runtimes)
      : models_(models_folder), runtimes_(std::move(runtimes)) {}
  /// From now on rows are of this machine; those of other cards are skipped.
  void on(Machine machine) { on_ = std::make_unique<Machine>(std::move(machine)); }
  /// Throws Skipped.
  ScoredRow subject(const Measurement& row);
  /// The scenario alone, of a row with an outcome ("fits", "oom", "max"). Throws Skipped.
  model::Scenario labelled(const Measurement& row);
  /// Throws Skipped.
  const model::Model& model(const std::string& reference) { return models_.model(reference); }

 private:
  model::Scenario scenario(const Measurement& row, const Options& options);
  void set_weights(const Measurement& row, model::Scenario& scenario);
  void set_draft(const Options& options, model::Scenario& scenario);
  void set_measured(const Measurement& row, ScoredRow& subject);
  const model::QuantisedModel& weights(const model::Model& model, const model::Scheme& scheme);
  const Machine& machine(Machine machine);

  RowModels models_;
  std::vector<model::Engine> runtimes_;
  std::map<std::pair<const model::Model*, const model::Scheme*>, model::QuantisedModel> weights_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<model::LayerSplit>> layer_splits_;
  std::vector<std::shared_ptr<const model::Assignment>> assignments_;
  std::vector<std::unique_ptr<GivenDraft>> drafts_;
  std::vector<std::unique_ptr<model::QuantisedModel>> files_;
  std::unique_ptr<Machine> on_;
};

}  // namespace headroom::sweep
