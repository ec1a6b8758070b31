// The interval of memory on one machine.
#pragma once

#include <algorithm>

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// True if all cards are NVIDIA's and have memory of their own.
inline bool has_nvidia_memory(const Machine& machine) {
  return !machine.devices.empty() && !machine.has_unified_memory() &&
         std::ranges::all_of(machine.devices, [](const Device& d) { return d.vendor == "nvidia"; });
}

/// MemoryPolicy::interval, or that of NVIDIA's cards, if it was measured. Elsewhere other kernels
/// work with buffers of their own, or the host has a part of the memory that cards share.
inline const Constant& memory_interval(const Engine& engine, const Machine& machine) {
  const Constant& nvidia = engine.memory.nvidia_interval;
  return nvidia.value > 0 && has_nvidia_memory(machine) ? nvidia : engine.memory.interval;
}
inline const Constant& memory_interval(const Scenario& s) {
  return memory_interval(*s.runtime, *s.machine);
}

}  // namespace headroom::model
