// A step's work on the slowest card, and the resources that it uses. The time
// (model/train/time.cpp) and the breakdown by part (model/answer/training_step_parts.hpp) are
// computed from it.
#pragma once

#include "model/train/exchange.hpp"
#include "model/train/pass_work.hpp"
#include "model/train/time.hpp"

namespace headroom::model {

/// A card's throughput: FLOPs a second of each kind of product, and memory bytes a second.
struct PassRates {
  double matrices = 0, experts = 0, head = 0, attention = 0, bandwidth = 0;
};

/// Bytes and the bandwidth of their link. 0: unknown.
struct Carriage {
  double bytes = 0, bytes_s = 0;
  double seconds() const { return bytes_s > 0 ? bytes / bytes_s : 0; }
};
/// Optimizer traffic. Either the card reads and writes states, weights and gradients, or the host
/// does; then gradients move to the host and weights back.
struct OptimizerWork {
  Carriage card, bus, ram, disk;
  double seconds() const { return card.seconds() + bus.seconds() + ram.seconds() + disk.seconds(); }
};

struct StepWork {
  double passes = 1;
  PassWork pass;
  PassRates rates;
  double moves = 0;  ///< factor on the bytes that layers write, for reads and writes
  Exchange exchange;
  double link = 1;           ///< share of link bandwidth that exchanges reach
  double shown = 1;          ///< share of the exchanges during passes that is not hidden
  double shown_of_keys = 1;  ///< the same for keys and values, hidden behind attention
  OptimizerWork optimizer;
  StepTime time;
};
/// Parameters as for time_of_step.
StepWork work_of_step(const TrainingScenario& scenario, const StepShape& shape,
                      const TrainingEstimate& memory, const Machine& machine,
                      const TrainingPace& pace);

}  // namespace headroom::model
