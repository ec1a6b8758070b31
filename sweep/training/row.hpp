// A single training step as the row that a sweep would store of it.
#pragma once

#include "report/run_info.hpp"
#include "report/table.hpp"
#include "sweep/training/answer.hpp"

namespace headroom::sweep {

/// Columns of a training grid and their values; without a machine no verdict and no time.
report::Table training_row(const GivenTraining& given, const TrainingAnswer& answer);

/// The runtime of a grid or a step, with the interval of what it is measured to hold and take.
report::Digit training_runtime_columns(const std::vector<const model::TrainingRuntime*>& runtimes);

}  // namespace headroom::sweep
