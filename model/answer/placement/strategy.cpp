#include "model/answer/placement/strategy.hpp"

#include <algorithm>
#include <unordered_map>

#include "model/infer/placement/larger_cards.hpp"
#include "model/infer/placement/split.hpp"

namespace headroom::model {
namespace {

using Gpu = StrategyRow::Gpu;
constexpr StrategyRow rows[] = {
    {"CPU and disk only", "no GPU", Gpu::share, 0.0, 1.0},
    {"memory-optimised", "the least GPU memory that uses a GPU", Gpu::least, 0.0, 1.0},
    {"a quarter of the GPU", "25 % of each GPU budget", Gpu::share, 0.25, 1.0},
    {"half of the GPU", "50 % of each GPU budget", Gpu::share, 0.5, 1.0},
    {"balanced", "75 % of each GPU budget and of host memory", Gpu::share, 0.75, 0.75},
    {"speed-optimised", "all of each budget", Gpu::share, 1.0, 1.0},
    {"GPU only", "all of each budget, nothing offloaded", Gpu::only, 1.0, 1.0},
};

Bytes part_of_bytes(Bytes bytes, double share) {
  return Bytes(static_cast<Size>(static_cast<double>(bytes.count()) * share));
}

/// The budgets of a row. Cards smaller than the budget keep within their own memory.
Scenario with_budgets(const Scenario& s, const StrategyRow& row) {
  Scenario changed = s;
  changed.ram_budget = part_of_bytes(std::min(s.ram_budget, s.machine->host.ram), row.ram_share);
  changed.gpu_budget = part_of_bytes(largest_card_budget(s), row.gpu_share);
  return changed;
}

/// Adds the total memory that a strategy lacks.
void add_need(Strategy& strategy, Gpu gpu) {
  const Scenario& s = strategy.scenario;
  const Estimate& e = strategy.explained.estimate;
  if (gpu != Gpu::only && e.reason == Reason::ram) {
    strategy.needed_of = Reason::ram;
    strategy.needed = std::min(s.ram_budget, s.machine->host.ram) + e.short_bytes;
  } else if (gpu != Gpu::only && e.reason == Reason::disk) {
    strategy.needed_of = Reason::disk;
    strategy.needed = std::min(s.disk_budget, s.machine->host.disk) + e.short_bytes;
  } else if (e.verdict != Verdict::refused || e.reason == Reason::no_gpu) {
    strategy.needed_of = Reason::gpu_memory;
    strategy.needed =
        least_gpu_memory(
            s, gpu == Gpu::only ? is_on_gpus : static_cast<bool (*)(const Estimate&)>(fits))
            .value_or(Bytes(0));
  }
}

Strategy worked_out(const StrategyRow& row, const Scenario& s, const ModuleTree& tree,
                    Policy policy, const MapOptions& options) {
  Strategy strategy{.name = row.name,
                    .meaning = row.meaning,
                    .scenario = s,
                    .mapped = nullptr,
                    .explained = {},
                    .needed = {}};
  const bool plain = policy == Policy::plain;
  if (auto made = plain ? as_map(s, tree, options) : mapped(s, tree, policy, options)) {
    strategy.mapped = std::make_shared<Mapped>(std::move(*made));
    if (!plain) strategy.scenario.assignment = &strategy.mapped->assignment;
  }
  strategy.explained = explain(strategy.scenario, WithAdvice::no);
  const Estimate& e = strategy.explained.estimate;
  strategy.feasible = row.gpu == Gpu::only ? is_on_gpus(e) : fits(e);
  if (!strategy.feasible) add_need(strategy, row.gpu);
  return strategy;
}

}  // namespace

ModuleTree held_tree(const QuantisedModel& weights) {
  const Part& part = weights.model->part;
  std::unordered_map<std::string_view, Eighths> owned;
  std::vector<Eighths> sizes;
  for (const Bytes bytes : quantised_bytes(*weights.model, *weights.scheme)) {
    sizes.push_back(8 * bytes.count());
    owned.emplace(part.tensors[sizes.size() - 1].name, sizes.back());
  }
  for (std::size_t i = 0; i < sizes.size(); ++i)
    if (const std::string& owner = part.tensors[i].tied_to; !owner.empty()) sizes[i] = owned[owner];
  return {part, sizes};
}

std::span<const StrategyRow> strategy_rows() { return rows; }

std::vector<Strategy> strategies(const Scenario& s, const ModuleTree& tree, Policy policy,
                                 const MapOptions& options) {
  std::vector<Strategy> all;
  for (const StrategyRow& row : rows) {
    if (s.machine->devices.empty() && &row != rows && row.gpu != Gpu::only) continue;
    Scenario changed = with_budgets(s, row);
    if (row.gpu == Gpu::least)
      changed.gpu_budget = std::min(least_gpu_memory(changed, uses_a_gpu).value_or(unlimited),
                                    largest_card_budget(s));
    all.push_back(worked_out(row, changed, tree, policy, options));
  }
  return all;
}

Strategy strategy_within(Bytes gpu_budget, std::string_view name, std::string_view meaning,
                         const Scenario& s, const ModuleTree& tree, Policy policy,
                         const MapOptions& options) {
  const StrategyRow row{name, meaning, Gpu::share, 1.0, 1.0};
  Scenario changed = with_budgets(s, row);
  changed.gpu_budget = std::min(gpu_budget, changed.gpu_budget);
  return worked_out(row, changed, tree, policy, options);
}

std::optional<Bytes> least_gpu_memory(const Scenario& s, bool (*wanted)(const Estimate&)) {
  LargerCards larger(s);
  Scenario& changed = larger.scenario;
  changed.assignment = nullptr;
  const auto holds = [&](Size mebibytes) {
    changed.gpu_budget = mebibytes * mebibyte;
    return wanted(evaluate(changed));
  };
  Size low = 0, high = larger.machine.devices.front().memory.count() / mebibyte.count();
  if (!holds(high)) return std::nullopt;
  while (low < high) {
    const Size middle = low + (high - low) / 2;
    if (holds(middle))
      high = middle;
    else
      low = middle + 1;
  }
  return low * mebibyte;
}

}  // namespace headroom::model
