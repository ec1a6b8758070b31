// Memory that the operating system and other programs need.
#pragma once

#include <algorithm>

#include "hardware/machine.hpp"

namespace headroom::model {

/// Bytes of the host's memory that stay free at least. An idle Linux server takes about 1 GiB, a
/// desktop 2 to 4. Start-up logs on GB10, whose card shares the memory, show 4 to 20 GiB in use
/// under vLLM and 6 to 12 under SGLang (MemoryPolicy::host_of_unified_bytes).
inline Bytes rest_for_host(const Machine& machine) {
  constexpr Bytes of_its_own{Size{2} << 30}, shared{Size{4} << 30};
  return machine.has_unified_memory() ? shared : of_its_own;
}

/// Bytes of a box's shared memory that the host needs beyond what the card's limit leaves it. RAM
/// is that of all boxes (Host::boxes).
inline Bytes host_needs_of(const Machine& machine) {
  const Bytes ram(machine.host.ram.count() / machine.host.boxes);
  const Bytes left = std::max(Bytes(0), ram - usable_memory(machine.devices.front()));
  return std::max(Bytes(0), rest_for_host(machine) - left);
}

}  // namespace headroom::model
