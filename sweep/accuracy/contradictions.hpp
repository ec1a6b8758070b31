// Measurements that others of the same source contradict, or the hardware that they name.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

struct Contradiction {
  Skip reason;
  std::string detail;  ///< what contradicts it
};

/// Skip::contradiction: prompts with weights in 16 bit that took more than twice as long as the
/// same prompts with packed weights, all else alike, where the engine unpacks those into memory and
/// multiplies them as it multiplies the former: what does more cannot take half the time.
///
/// Skip::memory_rate: steps of one sequence on at most one card that took less than 4/5 of what it
/// takes to read the weights that a token uses once, of each memory at the rate of its data sheet,
/// caches and all else left out. Memory of hosts that the row does not state is as fast as the
/// maker of the processor specifies; kits are sold that are a quarter faster.
///
/// No constant that is fitted has a part in either.
std::map<const Measurement*, Contradiction> contradicted(const std::vector<ScoredRow>& subjects);

}  // namespace headroom::sweep
