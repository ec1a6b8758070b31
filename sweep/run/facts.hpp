// The facts behind a fingerprint, as a run keeps them: a diff names those that changed.
#pragma once

#include <vector>

#include "hardware/machine.hpp"
#include "model/checkpoint/model.hpp"
#include "model/engine/engine.hpp"
#include "report/run_info.hpp"

namespace headroom::sweep {

/// Facts of a model: its class, its counts and its sizes.
std::vector<report::Fact> facts_of(const model::Model& model);
/// Facts of each kind of card and of the host, in the units of the catalogue. Unknown ones are
/// left out.
std::vector<report::Fact> facts_of(const Machine& machine);
/// Every policy and every constant of an engine.
std::vector<report::Fact> facts_of(const model::Engine& engine);

}  // namespace headroom::sweep
