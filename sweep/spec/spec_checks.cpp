#include "sweep/spec/spec_checks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace headroom::sweep {
namespace {

/// Concurrent requests are the batch. Lengths of requests have no meaning without them.
void check_concurrencies(const Spec& spec, GridSpec& grid) {
  if (grid.values("concurrencies").empty()) {
    for (const auto* key : {"prompt_tokens_p95", "output_tokens_p95", "max_ttft_p95",
                            "max_tpot_p95", "max_e2e_p99", "burstiness", "load_factor"})
      if (!grid.values(key).empty())
        throw spec.error(
            grid, key,
            "has no effect without 'concurrencies': it describes requests to an engine under load");
    return;
  }
  const auto is_given = [&](const auto* key) { return !grid.values(key).empty(); };
  if (is_given("burstiness") && !is_given("max_ttft_p95") && !is_given("max_tpot_p95") &&
      !is_given("max_e2e_p99"))
    throw spec.error(grid, "burstiness",
                     "has no effect without max_ttft_p95, max_tpot_p95 or max_e2e_p99");
  if (grid.lines.contains("batches"))
    throw spec.error(grid, "batches",
                     "excludes 'concurrencies', because concurrent requests are the batch");
  grid.all_values.erase("batches");
}

/// Checks every point of the grid.
void check_percentile(const Spec& spec, const GridSpec& grid, std::string_view key,
                      std::string_view of) {
  const auto p95 = grid.numbers(key), medians = grid.numbers(of);
  if (p95.empty()) return;
  const auto* link = grid.link_of(key);
  const bool together = link && std::ranges::find(*link, of) != link->end();
  for (std::size_t i = 0; i < p95.size(); ++i) {
    const Size median = together ? medians[i] : *std::ranges::max_element(medians);
    if (p95[i] < median)
      throw spec.error(grid, key,
                       fmt::format("{} is less than the median, {} {}{}", p95[i], of, median,
                                   together ? "" : "; 'link' them to pair each with its own"));
  }
}

/// A value twice would be a point twice. Linked axes may repeat: what is paired differs. Budgets
/// that come to the same are one.
void check_distinct(const Spec& spec, const GridSpec& grid) {
  for (const auto& [key, values] : grid.all_values) {
    if (grid.link_of(key) || key == "gpu_budgets") continue;
    std::set<std::string_view> seen;
    for (const std::string& value : values)
      if (!seen.insert(value).second)
        throw spec.error(grid, key, fmt::format("'{}' is given twice", value));
  }
}

}  // namespace

void check_grid(const Spec& spec, GridSpec& grid) {
  if (grid.task == model::Task::inference) {
    check_concurrencies(spec, grid);
    check_percentile(spec, grid, "prompt_tokens_p95", "prompt_tokens");
    check_percentile(spec, grid, "output_tokens_p95", "output_tokens");
  }
  check_distinct(spec, grid);
}

}  // namespace headroom::sweep
