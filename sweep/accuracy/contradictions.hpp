// Measurements that others of the same source contradict.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sweep/accuracy/subject.hpp"

namespace headroom::sweep {

/// Prompts with weights in 16 bit that took more than twice as long as the same prompts with packed
/// weights, all else alike, where the engine unpacks those into memory and multiplies them as it
/// multiplies the former: what does more cannot take half the time. The row of each, and what
/// contradicts it. No estimate has a part in it.
std::map<const Measurement*, std::string> contradicted(const std::vector<Subject>& subjects);

}  // namespace headroom::sweep
