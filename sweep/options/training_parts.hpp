// Parts of a training step that flags describe, for training_options.cpp alone. Each notes what it
// assumed and throws UsageError.
#pragma once

#include "sweep/options/training_options.hpp"

namespace headroom::sweep {

/// Only a factor that the scenario uses may be set: the others would have no effect.
void check_factors(const model::TrainingScenario& s);
void read_parallelism(const Options& options, model::TrainingScenario& s, GivenTraining& given);
void read_kernels(const Options& options, model::TrainingScenario& s, GivenTraining& given);
void read_images(const Options& options, model::TrainingScenario& s, GivenTraining& given);
void read_offload(const Options& options, model::TrainingScenario& s);
void read_packing(const Options& options, model::TrainingScenario& s, GivenTraining& given);
/// "300B", "1.5e9": whole tokens from 1 on; 0 where nothing is given.
Size token_budget_of(const Options& options);

}  // namespace headroom::sweep
