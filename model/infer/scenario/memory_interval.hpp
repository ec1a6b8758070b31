// The interval of memory on one machine.
#pragma once

#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// MemoryPolicy::interval, or that of unified memory, if anything was measured there: the host and
/// other programs take a part of it, which no shapes give.
inline const Constant& memory_interval(const Engine& engine, const Machine& machine) {
  const Constant& unified = engine.memory.unified_interval;
  return machine.has_unified_memory() && unified.value > 0 ? unified : engine.memory.interval;
}
inline const Constant& memory_interval(const Scenario& s) {
  return memory_interval(*s.runtime, *s.machine);
}

}  // namespace headroom::model
