#include "model/infer/timeline/all_reduce.hpp"

#include "model/engine/cards_from.hpp"

namespace headroom::model {

const Constant& reduce_latency(const Engine& engine, const Machine& machine, LinkPath path) {
  const ParallelPolicy& policy = engine.parallel;
  if (path != LinkPath::network && !policy.reduce_cards.empty() &&
      !holds(policy.reduce_cards, machine))
    return engine.offload.device_handoff_s;
  switch (path) {
    case LinkPath::own:
      // Links of their own start no later than the bus beside them, where only that was measured.
      // If neither was, each is its own: a fit must not take rows with links for rows of the bus.
      return policy.reduce_latency_s.measurements == 0 &&
                     policy.reduce_over_bus_s.measurements > 0 &&
                     policy.reduce_over_bus_s.value < policy.reduce_latency_s.value
                 ? policy.reduce_over_bus_s
                 : policy.reduce_latency_s;
    case LinkPath::bus:
    case LinkPath::host_memory:
      return policy.reduce_over_bus_s;
    case LinkPath::network:
      break;
  }
  return policy.reduce_over_network_s;
}
LinkPath reduce_path(const Engine& engine, const Machine& machine, LinkPath path, Size cards) {
  const ParallelPolicy& policy = engine.parallel;
  if (machine.devices.front().vendor != "nvidia" || path == LinkPath::network) return path;
  const bool runs = policy.reduce_cards.empty() || holds(policy.reduce_cards, machine);
  if (policy.reduces_in_host_memory && runs) return LinkPath::host_memory;
  return path == LinkPath::bus && cards <= policy.bus_kernel_cards ? LinkPath::own : path;
}
Seconds reduce_start(const Engine& engine, const Constant& of_two, LinkPath path, Size cards) {
  constexpr double through_host_memory = 1.6, over_links = 1.0 / 4, over_bus = 5.0 / 12;
  const bool own_kernel = path == LinkPath::own && engine.parallel.bus_kernel_cards > 0;
  if (path == LinkPath::network || own_kernel) return Seconds(of_two.value);
  const double each_further = path == LinkPath::own ? over_links : over_bus;
  const double ring = 1 + each_further * (static_cast<double>(cards) - 2);
  return Seconds(ring * (path == LinkPath::host_memory ? through_host_memory : 1) * of_two.value);
}

}  // namespace headroom::model
