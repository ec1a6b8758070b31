// A training step as a person reads it first: whether it fits, where the memory goes, how long.
#pragma once

#include <string>

#include "sweep/training/answer.hpp"

namespace headroom::sweep {

/// At most 30 lines of at most 100 columns, but for long names.
std::string training_screen(const GivenTraining& given, const TrainingAnswer& answer);

}  // namespace headroom::sweep
