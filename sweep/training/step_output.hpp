// How long a training step takes, and by which parts, as text and as JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "sweep/training/answer.hpp"

namespace headroom::sweep {

/// Empty where no time is known. `with_parts`: what each part multiplies, moves and waits for.
std::string step_time_text(const GivenTraining& given, const TrainingAnswer& answer,
                           bool with_parts);
boost::json::array array_of(const std::vector<model::StepPart>& parts);

}  // namespace headroom::sweep
