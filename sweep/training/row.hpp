// A single training step as the row that a sweep would store of it.
#pragma once

#include "model/train/time.hpp"
#include "report/run_info.hpp"
#include "report/table.hpp"
#include "sweep/training/answer.hpp"

namespace headroom::sweep {

/// Columns of a training grid and their values; without a machine no verdict and no time.
report::Table training_row(const GivenTraining& given, const TrainingAnswer& answer);

/// A runtime as under_zero() has it, and the card that it runs on; null: none.
struct PacedRuntime {
  const model::TrainingRuntime* runtime;
  const Device* card = nullptr;
  model::TrainingPace pace() const {
    return card != nullptr ? model::training_pace(runtime->paced_as(), *card)
                           : model::training_pace(runtime->paced_as());
  }
};

/// The runtimes of a grid or a step, with the intervals of what each is measured to hold and take.
report::Digit training_runtime_columns(const std::vector<PacedRuntime>& runtimes);

}  // namespace headroom::sweep
