// Memory that the driver and its libraries take of a card before an engine asks for any.
#pragma once

#include "hardware/device.hpp"
#include "model/engine/engine.hpp"
#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// Threads of the card that MemoryPolicy::context_bytes is for: 64 multiprocessors of 2048.
inline constexpr Size usual_threads = 131072;

/// Bytes a driver's context takes beyond, or below, `context_bytes` on this card: CUDA reserves
/// local memory for every thread that may be resident (CUDA programming guide, "Device Memory
/// Accesses"; NVlabs/cuda-oxide pull request 699). 0 where the threads are unknown.
/// MemoryPolicy::context_thread_bytes has the bytes of one.
double context_of_threads(const Engine& engine, const Device& device);

/// The whole context of an engine's process on a card, rounded down; never below 0.
Bytes driver_context(const Engine& engine, const Device& device);
/// Likewise, of the scenario's engine on the card of this number.
inline Bytes driver_context(const Scenario& s, Size card) {
  return driver_context(*s.runtime, s.machine->devices[static_cast<std::size_t>(card)]);
}

}  // namespace headroom::model
