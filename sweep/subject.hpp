// A measurement as something that can be estimated: the scenario it was taken in, and which figure
// of the estimate it is.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>

#include "model/estimate.hpp"
#include "sweep/measurement_names.hpp"

namespace headroom::sweep {

/// Which figure of an estimate a measurement is compared with.
enum class Statistic {
  allocated_peak,  ///< most bytes of tensors at once, all cards together: no driver, no allocator
  allocated_held,  ///< the same between passes: weights and caches
  card_used,       ///< as the driver shows it, all cards together
  weights,         ///< bytes of the weights alone
  card_weights,    ///< weights on the card `index`
  host_weights,    ///< weights left in host memory
  host_used,       ///< all that the process holds in host memory
  step,            ///< one decode step
  generation,      ///< prefill and every output token
  prefill,         ///< up to the first token
  load,
};
bool is_memory(Statistic statistic);

struct Subject {
  const Measurement* row = nullptr;
  model::Scenario scenario;
  std::string group;
  Statistic statistic = Statistic::step;
  std::size_t index = 0;  ///< of a card
  double measured = 0;    ///< bytes or seconds
};

/// Reads measurements into subjects, and keeps what their scenarios point to.
class Subjects {
 public:
  explicit Subjects(const std::string& models_folder) : names_(models_folder) {}
  /// Throws Skipped.
  Subject subject(const Measurement& row);
  /// The scenario alone, of a row of labels ("fits", "oom", "max"). Throws Skipped.
  model::Scenario labelled(const Measurement& row);
  /// A row of a table of sizes: the schemes that its words can mean, and the model. Throws Skipped.
  const model::Model& model(const std::string& name) { return names_.model(name); }

 private:
  model::Scenario scenario(const Measurement& row, const Engine& engine, bool memory_alone);
  /// Bytes used do not depend on the card: one that is not known stands for any, where
  /// `memory_alone`.
  Machine machine_for(const Measurement& row, bool memory_alone);
  const model::Weights& weights(const model::Model& model, const model::Scheme& scheme);
  const Machine& machine(Machine machine);

  ModelNames names_;
  std::map<std::pair<const model::Model*, const model::Scheme*>, model::Weights> weights_;
  std::vector<std::unique_ptr<Machine>> machines_;
};

}  // namespace headroom::sweep
