// The sequences of a plan's answer in words.
#pragma once

#include <string>

#include "sweep/plan/plan.hpp"

namespace headroom::sweep {

/// "27 sequences (3 copies of 9)" on all machines.
std::string sequences_words(const Candidate& candidate);

/// "27 sequences in each of 3 copies".
std::string batch_words(const Candidate& candidate);

}  // namespace headroom::sweep
