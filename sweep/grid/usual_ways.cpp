#include "sweep/grid/usual_ways.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>
#include <set>
#include <span>
#include <string_view>

#include "model/engine/loaded_scheme.hpp"
#include "model/engine/runs_on.hpp"
#include "sweep/options/extra_options.hpp"
#include "sweep/ways.hpp"

namespace headroom::sweep {
namespace {

/// Engines that suit a model, a machine and one of `precisions` of the grid. Throws UnknownName.
std::vector<const model::Engine*> comparable_in(const GridSpec& grid, Names& names,
                                                std::span<const std::string> precisions = {}) {
  std::set<const model::Engine*> found;
  for (const std::string& model : grid.values("models"))
    for (const std::string& machine : grid.values("machines"))
      for (const auto* engine : comparable_engines(names.engines, *names.models.at(model),
                                                   *names.machine(machine), precisions))
        found.insert(engine);
  std::vector<const model::Engine*> in_order;
  for (const model::Engine& engine : names.engines.all())
    if (found.contains(&engine)) in_order.push_back(&engine);
  return in_order;
}

/// True if the engine loads a model of the grid in the precision on one of its machines.
bool loads_any(const GridSpec& grid, const model::Engine& engine, const std::string& precision,
               Names& names) {
  if (precision == "auto") return true;
  const model::Scheme& scheme = model::scheme(precision);
  for (const std::string& model : grid.values("models"))
    for (const std::string& machine : grid.values("machines"))
      if (model::loading_of(*names.models.at(model), scheme, engine, *names.machine(machine)) !=
          model::Loading::refused)
        return true;
  return false;
}

/// The engines that `estimate --precision` compares; the usual one if none reads the precision.
std::vector<const model::Engine*> readers(const GridSpec& grid, const std::string& precision,
                                          Names& names) {
  auto all = comparable_in(grid, names, std::span(&precision, 1));
  std::erase_if(all, [&](const model::Engine* engine) {
    return !reads(*engine, precision) || !loads_any(grid, *engine, precision, names);
  });
  if (all.empty()) all.push_back(&names.engines.named(grid.values("runtimes").front()));
  return all;
}

/// True if the engine is compared in the precision on one of the grid's machines.
bool is_usual_on_any(const GridSpec& grid, const model::Engine& engine, std::string_view precision,
                     Names& names) {
  return std::ranges::any_of(grid.values("machines"), [&](const std::string& machine) {
    const auto usual = model::usual_precisions(engine, *names.machine(machine));
    return std::ranges::find(usual, precision) != usual.end();
  });
}

/// Values of the linked axes of a grid that names no engine.
struct UsualWay {
  const model::Engine* engine;
  std::string precision;
  std::string gpu_budget{};  ///< empty: the engine's own; "0": the CPU alone
};
using Ways = std::vector<UsualWay>;

/// True if cards may wait for weights that the engine brings from host memory in every pass.
bool may_wait_for_weights(const GridSpec& grid, const model::Engine& engine, Names& names) {
  return grid.values("gpu_budgets").empty() && engine.offload.mode == model::Offload::stream &&
         engine.offload.cpu &&
         std::ranges::any_of(grid.values("machines"), [&](const std::string& machine) {
           return !names.machine(machine)->devices.empty();
         });
}

/// Adds the ways on the CPU alone, which compare_ways() has too.
void add_cpu_alone(const GridSpec& grid, Ways& ways, Names& names) {
  const std::size_t cards = ways.size();
  for (std::size_t i = 0; i < cards; ++i)
    if (may_wait_for_weights(grid, *ways[i].engine, names))
      ways.push_back({ways[i].engine, ways[i].precision, "0"});
}

/// The ways of a grid that names no engine: those that estimate compares, or the precisions that
/// the grid names, each with its engines. Throws UnknownName.
Ways usual_ways(const GridSpec& grid, Names& names) {
  Ways ways;
  if (grid.lines.contains("precisions")) {
    for (const std::string& precision : grid.values("precisions"))
      for (const auto* engine : readers(grid, precision, names))
        ways.push_back({engine, precision});
  } else {
    const auto comparable = comparable_in(grid, names);
    for (const auto* engine : comparable)
      for (const std::string_view precision : engine->usual_precisions)
        if (is_usual_on_any(grid, *engine, precision, names))
          ways.push_back({engine, std::string(precision)});
    for (const auto* engine : comparable)
      for (const std::string_view precision : narrow_precisions(*engine))
        ways.push_back({engine, std::string(precision)});
  }
  add_cpu_alone(grid, ways, names);
  return ways;
}

/// Only some engines hold what is served beside a model, so grids with extras stay as they are.
bool takes_usual_ways(const GridSpec& grid) {
  return !grid.lines.contains("runtimes") && grid.link_of("precisions") == nullptr &&
         std::ranges::all_of(
             extra_axes, [&](const ExtraAxis& extra) { return grid.values(extra.key).empty(); });
}

/// Machines of the grid on which the engine is not compared in the precision, by canonical name.
std::vector<std::string> unusual_machines(const GridSpec& grid, const model::Engine& engine,
                                          std::string_view precision, Names& names) {
  std::vector<std::string> all;
  for (const std::string& text : grid.values("machines")) {
    const Machine& machine = *names.machine(text);
    const auto usual = model::usual_precisions(engine, machine);
    if (std::ranges::find(usual, precision) == usual.end()) all.push_back(machine.canonical_name());
  }
  return all;
}

}  // namespace

GridSpec with_usual_ways(const GridSpec& grid, Names& names) {
  if (!takes_usual_ways(grid)) return grid;
  GridSpec all = grid;
  try {
    const Ways ways = usual_ways(grid, names);
    all.all_values["runtimes"].clear();
    all.all_values["precisions"].clear();
    std::vector<std::string> link = {"precisions", "runtimes"}, budgets;
    for (const UsualWay& way : ways) {
      all.all_values["runtimes"].emplace_back(way.engine->name);
      all.all_values["precisions"].push_back(way.precision);
      budgets.push_back(way.gpu_budget);
    }
    if (!ways.back().gpu_budget.empty()) {
      all.all_values["gpu_budgets"] = budgets;
      link.emplace_back("gpu_budgets");
    }
    all.link.push_back(link);
    return all;
  } catch (const std::exception&) {
    return grid;  // link_groups() says which line has the wrong name
  }
}

std::vector<std::string> unusual_ways(const GridSpec& grid, Names& names) {
  std::vector<std::string> conditions;
  if (!takes_usual_ways(grid) || grid.lines.contains("precisions")) return conditions;
  for (const auto* engine : comparable_in(grid, names))
    for (const std::string_view precision : engine->usual_precisions) {
      if (precision == "auto" || !is_usual_on_any(grid, *engine, precision, names)) continue;
      const auto machines = unusual_machines(grid, *engine, precision, names);
      if (machines.empty()) continue;
      conditions.push_back(fmt::format(
          "runtime = '{}' AND precision = '{}' AND as_published = 0 AND machine IN ('{}')",
          engine->name, precision, fmt::join(machines, "', '")));
    }
  return conditions;
}

}  // namespace headroom::sweep
