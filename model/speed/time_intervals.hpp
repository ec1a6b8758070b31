// The 80 % intervals of a scenario's times: each kind of time has residuals of its own.
#pragma once

#include "model/placement/placement.hpp"

namespace headroom::model {

/// Factors on expected times, from the runtime's measured rows.
struct TimeIntervals {
  const Constant& load;   ///< of loading
  const Constant& first;  ///< of the time to first token: with weights outside the cards as `step`,
                          ///< since both then wait for the same links
  const Constant& step;   ///< of a decode step
};
inline TimeIntervals time_intervals(const Runtime& runtime, const Plan& plan) {
  const bool on_cards =
      plan.cards > 0 && plan.on_cpu.size() + plan.on_disk.size() == 0 && !plan.partly_on_host;
  if (!on_cards) return {runtime.load_interval, runtime.offload_interval, runtime.offload_interval};
  return {runtime.load_interval, runtime.prefill_interval, runtime.decode_interval};
}

}  // namespace headroom::model
