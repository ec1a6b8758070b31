// Ways to divide a model between GPUs, host memory and disk, and what each comes to.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/device_map.hpp"
#include "model/estimate.hpp"

namespace headroom::model {

/// The model's modules with what each tensor takes as it is held.
ModuleTree held_tree(const Weights& weights);

/// What weights may take of each device under `plan`: the budget without context, caches,
/// activations and the allocator's share, and of host memory without the process, in whole MiB.
MaxMemory weights_share(const Scenario& scenario, const Plan& plan);

/// What accelerate or transformers makes of a scenario's budgets.
struct Mapped {
  MaxMemory memory;  ///< what to pass as max_memory: the weights' share of each budget
  DeviceMap map;     ///< what the mapper makes of `memory`
  Assignment assignment;
};
/// Where the mapper puts more on a card than the weights' share leaves room for, it is lowered
/// until it fits. Nothing where the runtime does not take a device map, where nothing fits, where
/// the mapper fails, or where its map splits a layer.
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
  Scenario scenario;               ///< with its budgets; `assignment` points into `mapped`
  std::shared_ptr<Mapped> mapped;  ///< null: placed in the runtime's own order
  Explanation explained;
  bool feasible = false;
  Bytes needed;  ///< where it is not: in all, and of GPU memory on each card; 0: no amount helps
  Reason needed_of = Reason::none;  ///< gpu_memory, ram or disk
};

/// Every row in order; without cards those that only shares tell apart are left out.
std::vector<Strategy> strategies(const Scenario& scenario, const ModuleTree& tree, Policy policy,
                                 const MapOptions& options);

/// The least budget on each card, in whole MiB, at which `wanted` holds, were the cards larger than
/// they are; a machine without cards is given one. Nothing where no amount is enough. `wanted` must
/// not turn false as memory grows.
std::optional<Bytes> least_gpu_memory(const Scenario& scenario, bool (*wanted)(const Estimate&));

bool runs(const Estimate& estimate);        ///< anywhere at all
bool uses_a_gpu(const Estimate& estimate);  ///< runs, with at least one card
bool is_on_gpus(const Estimate& estimate);  ///< runs, with nothing offloaded

}  // namespace headroom::model
