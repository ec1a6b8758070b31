// Measured times of training steps: what a published figure says of a step's seconds.
#include <fmt/format.h>

#include "sweep/accuracy/row_machine.hpp"
#include "sweep/accuracy/training_measurement.hpp"

namespace headroom::sweep {
namespace {

/// Seconds of a step of `tokens` tokens and `sequences` sequences, of all cards together.
double seconds_of(const Measurement& row, double cards, double tokens, double sequences) {
  const auto value = row.number("value");
  if (!value || *value <= 0) throw Skipped(Skip::statistic, "no value");
  const std::string &form = row["form"], &unit = row["unit"];
  if (form == "amount" && unit == "s") return *value;
  if (form == "rate_per_card" && unit == "tokens/s") return tokens / (*value * cards);
  if (form == "rate" && unit == "tokens/s") return tokens / *value;
  if (form == "rate" && unit == "sequences/s") return sequences / *value;
  throw Skipped(Skip::statistic, fmt::format("form '{}' in '{}'", form, unit));
}

}  // namespace

TimedStep TrainingMeasurements::timed(const Measurement& row) {
  TimedStep step{.row = &row,
                 .scenario = step_of(row),
                 .evaluator = std::make_shared<model::TrainingEvaluator>(),
                 .memory = {},
                 .machine = boxed_machine_of(row)};
  const model::TrainingScenario& s = step.scenario;
  step.memory = (*step.evaluator)(s);
  const auto n = [](Size size) { return static_cast<double>(size); };
  const double sequences = n(s.batch) * n(s.accumulated) * n(s.parallel.replicas);
  const double tokens = sequences * n(s.sequence), cards = n(s.parallel.cards());
  step.measured = seconds_of(row, cards, tokens, sequences);
  const double back = s.adapter != nullptr ? 1 : 2;
  step.plain = 2 * n(s.model->profile.parameters_active) * tokens * (1 + back) /
               (cards * step.machine.devices.front().peak(Arithmetic::bf16).value());
  return step;
}

Score score_of(const TimedStep& step, double expected) {
  const model::Constant interval =
      model::training_pace(step.scenario.runtime->paced_as(), step.machine.devices.front())
          .interval;
  return {.row = step.row,
          .group = "training_time",
          .runtime = std::string(step.scenario.runtime->name),
          .measured = step.measured,
          .expected = expected,
          .low = expected * interval.low,
          .high = expected * interval.high,
          .plain = step.plain};
}

}  // namespace headroom::sweep
