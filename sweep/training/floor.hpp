// The answer of `estimate --task training` where activations of the model's layers are not
// described: weights, gradients and states, which are exact. It is a lower bound and never says
// that a step fits.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>

#include "model/train/training.hpp"
#include "sweep/options/training_options.hpp"
#include "sweep/training/answer.hpp"

namespace headroom::sweep {

struct TrainingFloorAnswer {
  model::TrainingFloor memory;
  std::string undescribed;       ///< which layers are not described, and what to do about it
  bool exceeds_machine = false;  ///< so the step does not fit, whatever its activations
};

/// `undescribed`: what answer_of() threw.
TrainingFloorAnswer floor_of(const GivenTraining& given, const UndescribedStep& undescribed);

std::string floor_screen(const GivenTraining& given, const TrainingFloorAnswer& answer);
boost::json::object object_of(const GivenTraining& given, const TrainingFloorAnswer& answer);

}  // namespace headroom::sweep
