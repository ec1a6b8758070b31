// Walks the digits of a grid that name a line, with the others at the values that tables show.
#include "report/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <tuple>

#include "report/columns.hpp"

namespace headroom::report {
namespace {

/// Number of settings of the other axes to try for a line whose first ones were excluded.
constexpr int max_tries = 256;

enum class Part { name, budget, other };

bool is_name(const std::string& column) {
  return column == "machine" || column == "runtime" || column == "model" || column == "precision" ||
         column == "task";
}

Part part_of(const Digit& digit) {
  if (std::ranges::any_of(digit, [](const Axis& a) { return is_name(a.column); }))
    return Part::name;
  const auto is_budget = [](const Axis& a) { return a.column == "gpu_budget_bytes"; };
  return std::ranges::any_of(digit, is_budget) ? Part::budget : Part::other;
}

/// Positions of an axis that is not shown, the preferred one first.
std::vector<Size> preferred(const Digit& digit) {
  const Axis& axis = digit.front();
  std::vector<Size> order(axis.values.size());
  std::iota(order.begin(), order.end(), Size{0});
  const Column* column = find_column(axis.column);
  if (!column || column->type == SqlType::text) return order;
  const bool largest = axis.column.ends_with("_budget_bytes");
  const double none = largest ? std::numeric_limits<double>::infinity() : 0;
  std::ranges::stable_sort(order, {}, [&](Size i) {
    const double n = number_of(&axis.values[static_cast<std::size_t>(i)], none);
    return largest ? -n : n;
  });
  return order;
}

/// Odometer over digits with the given orders of positions: false after the last combination.
bool advance(std::vector<std::size_t>& at, const std::vector<std::vector<Size>>& orders) {
  for (std::size_t k = at.size(); k-- > 0;) {
    if (++at[k] < orders[k].size()) return true;
    at[k] = 0;
  }
  return false;
}

/// Some digits of a grid and the positions that each goes through.
struct Walk {
  std::vector<Size> strides;
  std::vector<std::vector<Size>> orders;
  Size offset(const std::vector<std::size_t>& at) const {
    Size sum = 0;
    for (std::size_t k = 0; k < at.size(); ++k) sum += strides[k] * orders[k][at[k]];
    return sum;
  }
};

std::string conditions(const Axes& axes, Size point) {
  const auto text = [&](std::string_view column) { return text_of(axes.value(column, point)); };
  std::string all;
  const auto add = [&](const std::string& words) { all += (all.empty() ? "" : ", ") + words; };
  if (const auto b = text("batch"); !b.empty()) add("batch " + b);
  const auto prompt = text("prompt_tokens"), output = text("output_tokens");
  if (!prompt.empty() && !output.empty()) add(fmt::format("{} + {} tokens", prompt, output));
  if (const auto c = text("context"); !c.empty()) add("context " + c);
  if (const auto kv = text("kv_precision"); !kv.empty()) add("KV cache in " + kv);
  if (text("kv_cache") == "off") add("no KV cache");
  if (const auto tp = text("tensor_parallel"); !tp.empty() && tp != "0") add("TP " + tp);
  if (const auto pp = text("pipeline_parallel"); !pp.empty() && pp != "0") add("PP " + pp);
  return all;
}

ModelRow line_at(const Axes& axes, Size point) {
  const auto text = [&](std::string_view column) { return text_of(axes.value(column, point)); };
  const auto count = [&](std::string_view column) {
    return static_cast<Size>(number_of(axes.value(column, point), 0));
  };
  ModelRow line{.grid = axes.grid_of(point),
                .machine = text("machine"),
                .runtime = text("runtime"),
                .model = text("model"),
                .precision = text("precision"),
                .label = text("precision"),
                .group = {},
                .held = text("precision"),
                .checkpoint = text("checkpoint_precision"),
                .as_published = false,
                .conditions = conditions(axes, point),
                .parameters = number_of(axes.value("parameters", point), 0),
                .gpus = count("gpus"),
                .gpu_memory = count("gpu_memory_bytes"),
                .factors = axes.factors(point),
                .entries = {}};
  if (line.held == "auto" && !line.checkpoint.empty()) line.held = line.checkpoint;
  line.as_published = count("as_published") > 0 || line.held == line.checkpoint;
  return line;
}

double size_of(const BudgetPoint& entry) {
  return entry.budget ? static_cast<double>(*entry.budget)
                      : std::numeric_limits<double>::infinity();
}

auto name_of(const ModelRow& line) {
  return std::tie(line.machine, line.runtime, line.model, line.precision);
}

/// Runtimes of a machine share one figure if each precision has only one of them (a format that
/// only one runtime reads). Otherwise each runtime has its own.
void set_labels(std::vector<ModelRow>& lines) {
  std::map<std::string, std::set<std::string>> runtimes;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> of_precision;
  for (const ModelRow& line : lines) {
    runtimes[line.machine].insert(line.runtime);
    of_precision[{line.machine, line.precision}].insert(line.runtime);
  }
  for (ModelRow& line : lines) {
    line.one_engine = runtimes[line.machine].size() == 1;
    const bool crossed = std::ranges::any_of(of_precision, [&](const auto& entry) {
      return entry.first.first == line.machine && entry.second.size() > 1;
    });
    if (crossed || line.one_engine)
      line.group = line.runtime;
    else
      line.label = fmt::format("{} ({})", line.precision, line.runtime);
  }
}

}  // namespace

std::vector<ModelRow> lines_of(const Database& database, const Axes& axes, std::int64_t run) {
  const Database::Snapshot snapshot(database);
  const auto contexts = database.longest_contexts(run);
  std::vector<ModelRow> lines;
  for (std::size_t grid = 0; grid < axes.info().grids.size(); ++grid) {
    Walk names, budgets, others;
    const auto& digits = axes.info().grids[grid].digits;
    for (std::size_t d = 0; d < digits.size(); ++d) {
      const Part part = part_of(digits[d]);
      std::vector<Size> in_order(digits[d].front().values.size());
      std::iota(in_order.begin(), in_order.end(), Size{0});
      Walk& walk = part == Part::name ? names : part == Part::budget ? budgets : others;
      walk.strides.push_back(axes.places(grid)[d].stride);
      walk.orders.push_back(part == Part::other ? preferred(digits[d]) : in_order);
    }
    std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> known;
    std::vector<std::size_t> name(names.strides.size());
    do {
      const Size base = axes.first_point(grid) + names.offset(name);
      if (const auto task = text_of(axes.value("task", base)); task == "training") continue;
      std::vector<BudgetPoint> entries;
      std::vector<std::size_t> other(others.strides.size());
      for (int tries = 0; entries.empty() && tries < max_tries; ++tries) {
        std::vector<std::size_t> budget(budgets.strides.size());
        do {
          const Size point = base + others.offset(other) + budgets.offset(budget);
          auto estimate = database.find(run, point);
          if (!estimate) continue;
          const double bytes = number_of(axes.value("gpu_budget_bytes", point), -1);
          const auto context = contexts.find(point);
          entries.push_back(
              {point, bytes < 0 ? std::nullopt : std::optional(static_cast<Size>(bytes)), *estimate,
               context == contexts.end() ? std::nullopt : std::optional(context->second)});
        } while (advance(budget, budgets.orders));
        if (!advance(other, others.orders)) break;
      }
      if (entries.empty()) continue;
      ModelRow line = line_at(axes, entries.front().point);
      const auto [at, added] = known.try_emplace(name_of(line), lines.size());
      if (added) lines.push_back(std::move(line));
      auto& all = lines[at->second].entries;
      all.insert(all.end(), entries.begin(), entries.end());
    } while (advance(name, names.orders));
  }
  for (ModelRow& line : lines) {
    std::ranges::stable_sort(line.entries, {}, size_of);
    const auto same = [](const BudgetPoint& a, const BudgetPoint& b) {
      return a.budget == b.budget;
    };
    line.entries.erase(std::unique(line.entries.begin(), line.entries.end(), same),
                       line.entries.end());
  }
  set_labels(lines);
  return lines;
}

bool repeated(const ModelRow& line, const std::vector<ModelRow>& lines) {
  return line.precision != line.held && std::ranges::any_of(lines, [&](const ModelRow& other) {
           return other.grid == line.grid && other.machine == line.machine &&
                  other.runtime == line.runtime && other.model == line.model &&
                  other.precision == line.held;
         });
}

std::vector<const ModelRow*> one_per_name(const std::vector<ModelRow>& lines) {
  std::vector<const ModelRow*> chosen;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> known;
  for (const ModelRow& line : lines) {
    const auto [at, added] = known.try_emplace(name_of(line), chosen.size());
    if (added)
      chosen.push_back(&line);
    else if (size_of(line.roomiest()) > size_of(chosen[at->second]->roomiest()))
      chosen[at->second] = &line;
  }
  return chosen;
}

}  // namespace headroom::report
