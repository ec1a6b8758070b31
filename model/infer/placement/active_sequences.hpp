// Number of sequences of a batch that run concurrently if an engine has a KV cache pool for all of
// them. Part of a batch that is too large waits, and the batch still fits.
#pragma once

#include <optional>

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// `scenario` with the largest batch that its cards have room for at its context, and at most
/// max_sequences, split as `plan` splits it. Nothing where all of them run, where not one has room
/// (the engine would not start), and where the engine has no such pool. `uses` are the scenario's,
/// `plan` is place(uses, memory_factor). Source: vLLM 0.19 v1/core/sched/scheduler.py, SGLang 0.5
/// managers/scheduler.py: the waiting queue.
std::optional<Scenario> max_admitted(const Uses& uses, const Plan& plan, double memory_factor);

/// `scenario` with the number of sequences that the engine is asked for
/// (model/infer/placement/asked_sequences.hpp), and with the batch that runs concurrently.
Scenario admitted_scenario(const Scenario& scenario);

}  // namespace headroom::model
