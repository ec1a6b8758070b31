// Canonical rows of training runs as steps that can be estimated.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/train/shape.hpp"
#include "model/train/time.hpp"
#include "model/train/training.hpp"
#include "sweep/accuracy/accuracy.hpp"
#include "sweep/accuracy/row_models.hpp"

namespace headroom::sweep {

/// Shares that an allocator holds and a driver's context, as measured or as where nothing is.
enum class Overheads { measured, unmeasured };

bool is_training(const Measurement& row);
bool is_training_time(const Measurement& row);

/// A measured step with all that its time is worked out from.
struct TimedStep {
  const Measurement* row = nullptr;
  model::TrainingScenario scenario;
  std::shared_ptr<model::TrainingEvaluator> evaluator;  ///< holds the shape
  model::TrainingEstimate memory;
  Machine machine;
  double measured = 0;  ///< seconds of a step
  double plain = 0;     ///< 2 * parameters * tokens * (1 + backward) over the dense peak

  model::StepTime time(const model::TrainingPace& pace) const {
    return time_of_step(scenario, evaluator->shape(), memory, machine, pace);
  }
};

/// Scores rows of training, and keeps what their steps point to.
class TrainingMeasurements {
 public:
  explicit TrainingMeasurements(const std::string& models_folder) : models_(models_folder) {}
  /// Groups training_memory and training_time. Overheads that are `unmeasured` have no row of any
  /// source in them. Throws Skipped; std::invalid_argument where the step cannot be.
  Score score(const Measurement& row, Overheads overheads = Overheads::measured);
  /// For a row with the time of a step. Throws the same errors.
  TimedStep timed(const Measurement& row);
  /// The verdict on a row with an outcome: the fullest card of the run against the row's smallest
  /// card. Host memory counts where the row states it. Throws the same errors.
  Label label(const Measurement& row);

 private:
  model::TrainingScenario step_of(const Measurement& row);
  Score score_of_memory(const Measurement& row, Overheads overheads);
  void read_adapters(const Measurement& row, model::TrainingScenario& s);
  const model::QuantisedModel& held(const model::Model& model, const std::string& scheme);

  RowModels models_;
  std::map<std::pair<const model::Model*, const model::Scheme*>, model::QuantisedModel> held_;
  std::map<const model::Model*, model::QuantisedModel> counted_;
  std::vector<std::unique_ptr<model::Adapter>> adapters_;
};

/// The score of a step that is expected to take so many seconds, with the interval that is shown.
Score score_of(const TimedStep& step, double expected);

}  // namespace headroom::sweep
