// How many sequences of a batch run at once where an engine keeps a pool of key-value cache for all
// of them, so that a batch too large for it waits in part instead of not fitting.
#pragma once

#include <optional>

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// `scenario` with the largest batch that its cards have room for at its context, split as `plan`
/// splits it. Nothing where all of them have room, where not one has (the engine would not start),
/// and where the engine has no such pool. `uses` are the scenario's, `plan` is place(uses,
/// memory_factor). Source: vLLM 0.19 v1/core/sched/scheduler.py, SGLang 0.5
/// managers/scheduler.py: the waiting queue.
std::optional<Scenario> max_admitted(const Uses& uses, const Plan& plan, double memory_factor);

/// `scenario`, with the batch that runs at once.
Scenario admitted_scenario(const Scenario& scenario);

}  // namespace headroom::model
