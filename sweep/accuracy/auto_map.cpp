#include "sweep/accuracy/auto_map.hpp"

#include "model/answer/placement/strategy.hpp"
#include "model/infer/memory/driver_context.hpp"
#include "model/infer/placement/device_map.hpp"

namespace headroom::sweep {
namespace {

/// Bytes of `memory` that remain after `taken` bytes.
model::Eighths left_of(Bytes memory, double taken) {
  return 8 * std::max<Size>(0, memory.count() - static_cast<Size>(taken));
}

}  // namespace

std::optional<model::Assignment> auto_map(const model::Scenario& s) {
  model::MaxMemory memory;
  for (std::size_t card = 0; card < s.machine->devices.size(); ++card)
    memory.push_back({std::to_string(card), left_of(usable_memory(s.machine->devices[card]),
                                                    real_count(model::driver_context(
                                                        *s.runtime, s.machine->devices[card])))});
  memory.push_back({"cpu", left_of(s.machine->host.ram, s.runtime->memory.host_bytes.value)});
  memory.push_back({"disk", 0, false});
  const model::Model& model = *s.weights->model;
  const model::MapOptions options{.no_split = model.part.no_split};
  try {
    const model::ModuleTree tree = model::held_tree(*s.weights);
    // Until transformers 4.20 cards were filled one after the other.
    const bool fills = s.runtime->name == "transformers-4.20";
    const auto budgets =
        fills ? memory : balanced_memory(tree, memory, model::Policy::balanced, options);
    return assignment_of(model, infer_device_map(tree, budgets, options));
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

}  // namespace headroom::sweep
