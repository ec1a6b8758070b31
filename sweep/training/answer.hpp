// The answer of `estimate --task training`, as values.
#pragma once

#include <boost/json/fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/answer/training_advice.hpp"
#include "model/answer/training_step_parts.hpp"
#include "model/infer/estimate.hpp"
#include "model/train/time.hpp"
#include "sweep/options/training_options.hpp"

namespace headroom::sweep {

/// A step with what it takes; outcome: where there is a machine, time and its parts: where it has
/// cards.
struct TrainingAnswer {
  model::TrainingEstimate memory;
  std::optional<model::Estimate> outcome;
  std::optional<model::StepTime> time;
  std::vector<model::StepPart> parts;
  std::vector<model::Term> terms;  ///< terms of memory
};
/// Activations of the model's layers are not described: floor_of() has what is known.
class UndescribedStep : public UsageError {
 public:
  using UsageError::UsageError;
};
/// Throws UndescribedStep, and UsageError for a step that cannot be.
TrainingAnswer answer_of(const GivenTraining& given);

/// True if a step has room in a card's `memory` at `peak_high`, the high end of its interval.
bool has_room(const Device& device, Bytes memory, Bytes peak_high);
/// True if a step on the machine's cards leaves less than the memory to spare at `peak_high`.
bool is_tight(const GivenTraining& given, Bytes peak_high);

/// Room for more, and changes: those that would make a step fit, or a tight one safe.
struct TrainingAdvice {
  Size batch = 0, sequence = 0, replicas = 0;
  std::vector<model::Change> changes;
};
TrainingAdvice advice_of(const GivenTraining& given, const model::TrainingEstimate& estimate);

/// Lines with the flags that --from gave, the assumptions and the keys that nothing reads.
std::vector<std::string> assumptions_of(const GivenTraining& given);

/// Why the peak is not to be relied on.
std::vector<std::string> warnings_of(const GivenTraining& given);

/// Days that the tokens of --token-budget take.
double days_of(const GivenTraining& given, const model::StepTime& time);
boost::json::object object_of(const GivenTraining& given, const TrainingAnswer& answer);

}  // namespace headroom::sweep
