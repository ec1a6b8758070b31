// A measurement as something that can be estimated: the scenario it was taken in, and which figure
// of the estimate it is.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "sweep/accuracy/measurement_names.hpp"
#include "sweep/accuracy/quantity.hpp"

namespace headroom::sweep {

/// "github:QwenLM/Qwen3@7a2f61f:docs/…" is "QwenLM/Qwen3".
std::string short_source(std::string source);
/// The short sources of `rows`, those with the most rows first.
std::string sources_of(const std::vector<const Measurement*>& rows);

struct ScoredRow {
  const Measurement* row = nullptr;
  model::Scenario scenario;
  std::string group;
  Statistic statistic = Statistic::step;
  std::size_t index = 0;  ///< of a card
  double measured = 0;    ///< bytes or seconds
  Size requests = 0;      ///< of a run that ends; 0: of a steady state
};

/// Reads measurements into subjects, and keeps what their scenarios point to.
class Subjects {
 public:
  /// With the engines' rows as they are, or with `runtimes` in their place.
  explicit Subjects(const std::string& models_folder);
  Subjects(const std::string& models_folder, std::vector<model::Engine> runtimes)
      : names_(models_folder), runtimes_(std::move(runtimes)) {}
  /// From now on rows are of this machine; those of other cards are skipped.
  void on(Machine machine) { on_ = std::make_unique<Machine>(std::move(machine)); }
  /// Throws Skipped.
  ScoredRow subject(const Measurement& row);
  /// The scenario alone, of a row of labels ("fits", "oom", "max"). Throws Skipped.
  model::Scenario labelled(const Measurement& row);
  /// A row of a table of sizes: the schemes that its words can mean, and the model. Throws Skipped.
  const model::Model& model(const std::string& name) { return names_.model(name); }

 private:
  model::Scenario scenario(const Measurement& row, const EngineName& engine, bool memory_alone);
  /// Bytes used do not depend on the card: one that is not known stands for any, where
  /// `memory_alone`.
  Machine machine_for(const Measurement& row, bool memory_alone);
  const model::QuantisedModel& weights(const model::Model& model, const model::Scheme& scheme);
  const Machine& machine(Machine machine);
  /// llama.cpp's -ngl and -nkvo; null where the row has neither and one card at most.
  const model::LayerSplit* layer_split(const Measurement& row, const model::Scenario& scenario);

  ModelNames names_;
  std::vector<model::Engine> runtimes_;
  std::map<std::pair<const model::Model*, const model::Scheme*>, model::QuantisedModel> weights_;
  std::vector<std::unique_ptr<Machine>> machines_;
  std::vector<std::unique_ptr<model::LayerSplit>> layer_splits_;
  std::vector<std::shared_ptr<const model::Assignment>> assignments_;
  std::unique_ptr<Machine> on_;
};

}  // namespace headroom::sweep
