// Ways to divide a model between GPUs, host memory and disk, and what each comes to.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/device_map.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

/// The model's modules with what each tensor takes as it is held.
ModuleTree held_tree(const QuantisedModel& weights);

/// The share of each device that `plan` leaves to weights, in whole MiB. On cards it is the budget
/// without context, caches, activations and the allocator's overhead. In host memory it is the RAM
/// without the process.
MaxMemory weights_share(const Scenario& scenario, const Plan& plan);

/// A device map for a scenario.
struct Mapped {
  MaxMemory memory;  ///< memory for weights on each device
  DeviceMap map;
  Assignment assignment;
  bool written = true;  ///< the mapper writes `map` when `memory` is passed as max_memory; else the
                        ///< map itself has to be passed
};

/// The placement of `place` as a device map, with the max_memory that makes the mapper write it.
/// Each device's limit is its content plus half of the next module, at most its budget for weights.
/// The first card and the CPU also keep room for the largest module still to come, as the mapper
/// does. Nothing where the runtime takes no device map or nothing fits.
std::optional<Mapped> as_map(const Scenario& scenario, const ModuleTree& tree,
                             const MapOptions& options);

/// The map that a balancing mapper makes of each device's share for weights. If it puts more on a
/// card than fits, the share is lowered until it fits. Nothing where as_map has nothing, where the
/// mapper fails, or where its map splits a layer.
std::optional<Mapped> mapped(const Scenario& scenario, const ModuleTree& tree, Policy policy,
                             const MapOptions& options);

/// One row of the table of strategies: shares of the scenario's own budgets.
struct StrategyRow {
  enum class Gpu { share, least, only };
  std::string_view name, meaning;
  Gpu gpu;  ///< a share; the least that puts a card to use; a share, and nothing is offloaded
  double gpu_share, ram_share;
};
std::span<const StrategyRow> strategy_rows();

/// A row worked out.
struct Strategy {
  std::string_view name, meaning;
  Scenario scenario;  ///< with its budgets; `assignment` points into `mapped` where a policy
                      ///< balances them, and is null where the placement is that of `place`
  std::shared_ptr<Mapped> mapped;  ///< null: the runtime takes no device map
  Explanation explained;
  bool feasible = false;
  Bytes needed;  ///< if it does not fit: the total need, of GPU memory on each card; 0: no amount
                 ///< helps
  Reason needed_of = Reason::none;  ///< gpu_memory, ram or disk
};

/// Every row in order; without cards those that only shares tell apart are left out.
std::vector<Strategy> strategies(const Scenario& scenario, const ModuleTree& tree, Policy policy,
                                 const MapOptions& options);

/// A strategy with `gpu_budget` on each card, and all of host memory.
Strategy strategy_within(Bytes gpu_budget, std::string_view name, std::string_view meaning,
                         const Scenario& scenario, const ModuleTree& tree, Policy policy,
                         const MapOptions& options);

/// The least budget of each card, in whole MiB, at which `wanted` holds. Cards may be larger than
/// they are, and a machine without cards is given one. Nothing where no amount is enough. `wanted`
/// must not turn false as memory grows.
std::optional<Bytes> least_gpu_memory(const Scenario& scenario, bool (*wanted)(const Estimate&));

}  // namespace headroom::model
