// Fewer sequences at once than an engine's usual number, where the usual number leaves no room.
#pragma once

#include <optional>

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// True if nothing says how many sequences the engine is asked for, and it has a usual number. Such
/// an engine divides matrices between cards.
bool leaves_sequences_open(const Scenario& scenario);

/// True if the whole batch fits with the usual number at the high end of the memory interval.
bool usual_number_surely_fits(const Uses& uses);

/// `scenario` with the number of sequences to ask the engine for (max_sequences), so that the whole
/// batch fits. Nothing: it fits with the usual number, no smaller one helps, or the scenario states
/// a number.
///
/// Fewer sequences take less memory for the engine's pass at start, its CUDA graphs and a block of
/// recurrent states for each. Candidates are the batch and the powers of two from it to the usual
/// number. The largest counts that fits at the high end of the memory interval, else the largest
/// that fits at the expected memory. The usual number is kept where it is as sure: more memory
/// never makes an answer less sure. `uses` are the scenario's, which leaves the number open. `plan`
/// is place(uses, 1.0), and usual_number_surely_fits(uses) is false. Source: vLLM 0.33
/// config/vllm.py _set_cudagraph_sizes, v1/worker/gpu_worker.py determine_available_memory,
/// config/compilation.py resolve_cudagraph_mode_and_sizes.
std::optional<Scenario> with_fewer_sequences(const Uses& uses, const Plan& plan);

/// For a batch of which `admitted` sequences run with the usual number, and which does not fit as a
/// whole with any. The power of two with which most of it runs at the expected memory, the least of
/// them; the rest waits. Nothing: none runs more than `admitted`. So more memory never admits
/// fewer, whether or not the usual number starts. The number is
/// at least the batch if requests have less than their context: their pages leave room for all.
std::optional<Scenario> admitting_more(const Uses& uses, Size admitted);

/// Likewise, where the usual number does not start. If not even one sequence runs, the batch's own
/// number: every number is short of what this one is. `plan` is place(uses, 1.0).
std::optional<Scenario> fewer_where_short(const Uses& uses, const Plan& plan);

/// True if the engine starts for one sequence with fewer than its usual number, and only so, within
/// budgets at `memory_factor` (as `place` has it). `plan` is place(uses, memory_factor).
bool starts_only_with_fewer(const Uses& uses, const Plan& plan, double memory_factor);

/// `scenario` with the number of either function, if any. `setup`: its own, or that of scenarios
/// that differ in sizes alone.
Scenario as_started(const Scenario& scenario, const Setup& setup);
Scenario as_started(const Scenario& scenario);

/// The number to ask the engine for; 0: its usual one. It is that of as_started(), else a batch
/// beyond the usual number.
Size sequences_to_ask_for(const Scenario& scenario);

/// Why fewer sequences are asked for than usual.
struct FewerSequences {
  Size asked = 0, usual = 0;
  Bytes freed;            ///< more that the usual number needs on the fullest card
  Size usual_admits = 0;  ///< sequences of the batch that run with the usual number
};
/// None: the usual number is kept, or the scenario states one.
std::optional<FewerSequences> fewer_sequences(const Scenario& scenario);

}  // namespace headroom::model
