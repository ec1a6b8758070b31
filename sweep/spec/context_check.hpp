// A context must hold the prompt and what is generated.
#pragma once

#include "sweep/spec/job.hpp"

namespace headroom::sweep {

/// Throws SpecError for a combination of tokens that is too long for its context. Combinations that
/// an exclusion of these same digits leaves out are not looked at.
void check_contexts(const Spec& spec, const GridSpec& grid, const JobGrid& job);

}  // namespace headroom::sweep
