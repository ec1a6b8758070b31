// A training step at full rates.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "model/answer/training_step_parts.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/outcome.hpp"
#include "model/train/shape.hpp"
#include "model/train/time.hpp"
#include "tests/model/train/training_fixture.hpp"

namespace headroom::model {

using namespace literals;

inline TrainingPace perfect() {
  TrainingPace pace;
  for (const auto member : pace_constants) (pace.*member).value = 1;
  pace.traffic.value = 0;
  pace.layer_s.value = 0;
  return pace;
}

inline double seconds(const TrainingScenario& s, const Machine& machine, const TrainingPace& pace) {
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  return time_of_step(s, evaluate.shape(), e, machine, pace).total().value();
}

}  // namespace headroom::model
