// The usual prompt, for models that cannot read it whole.
#pragma once

#include <string>
#include <vector>

#include "model/checkpoint/model.hpp"
#include "model/infer/scenario/scenario.hpp"
#include "sweep/options/options.hpp"

namespace headroom::sweep {

/// A prompt whose length was not asked for is no longer than a table of learned positions has room
/// for; `assumed` says so. Throws UsageError where outputs are asked of a model that writes none.
void fit_prompt(const Options& options, const model::Model& m, model::Scenario& s,
                std::vector<std::string>& assumed);

}  // namespace headroom::sweep
