// How long a training step takes, and by which parts, as text and as JSON.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "sweep/training/answer.hpp"

namespace headroom::sweep {

/// Empty where no time is known. `with_parts`: what each part multiplies, moves and waits for.
std::string step_time_text(const GivenTraining& given, const TrainingAnswer& answer,
                           bool with_parts);
/// "10,000,000,000 tokens take 1.23 days.": of --token-budget; empty where none is asked for.
std::string budget_line(const GivenTraining& given, const TrainingAnswer& answer);
boost::json::array array_of(const std::vector<model::StepPart>& parts);

}  // namespace headroom::sweep
