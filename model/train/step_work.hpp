// A step's amounts on the card that sets the pace, and what carries them: what its time is worked
// out from (model/train/time.cpp), and shown by part (model/answer/training_step_parts.hpp).
#pragma once

#include "model/train/exchange.hpp"
#include "model/train/pass_work.hpp"
#include "model/train/time.hpp"

namespace headroom::model {

/// What a card reaches: FLOPs a second of each kind of product, bytes a second of its memory.
struct PassRates {
  double matrices = 0, experts = 0, head = 0, attention = 0, bandwidth = 0;
};

/// Bytes over something that carries so many a second; 0: nothing is known of it.
struct Carriage {
  double bytes = 0, bytes_s = 0;
  double seconds() const { return bytes_s > 0 ? bytes / bytes_s : 0; }
};
/// The optimizer reads and writes states, weights and gradients on the card; or the host does, and
/// gradients go down and weights up.
struct OptimizerWork {
  Carriage card, bus, ram, disk;
  double seconds() const { return card.seconds() + bus.seconds() + ram.seconds() + disk.seconds(); }
};

struct StepWork {
  double passes = 1;
  PassWork pass;
  PassRates rates;
  double moves = 0;  ///< times that what layers write is written and read
  Exchange exchange;
  double link = 1;   ///< share of links that exchanges reach
  double shown = 1;  ///< share of the exchanges beside passes that does not hide behind them
  double shown_of_keys = 1;  ///< and of keys and values, behind attention
  OptimizerWork optimizer;
  StepTime time;
};
/// Parameters as of time_of_step.
StepWork work_of_step(const TrainingScenario& scenario, const StepShape& shape,
                      const TrainingEstimate& memory, const Machine& machine,
                      const TrainingPace& pace);

}  // namespace headroom::model
