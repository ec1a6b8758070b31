// Walks the digits of a grid that name a line, with the others at the values that tables show.
#include "report/selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <map>
#include <set>
#include <tuple>

#include "model/answer/way_order.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/columns.hpp"
#include "report/line_walk.hpp"
#include "report/point_rows.hpp"

namespace headroom::report {
namespace {

/// Number of settings of the other axes to try for a line whose first ones were excluded.
constexpr int max_tries = 256;

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
  line.batch = std::max({count("batch"), count("concurrency"), Size{1}});
  // As model/infer/service.hpp batches_continuously() has it.
  line.admits_requests = number_of(axes.value("admits_requests", point), 1) > 0 &&
                         text("kv_cache") != "off" && text("speculate").empty();
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

/// Reads lines of one run.
class LineReader {
 public:
  LineReader(const Database& database, const Axes& axes, std::int64_t run)
      : database_(&database), axes_(&axes), run_(run), contexts_(database.longest_contexts(run)) {}

  /// Adds those of a grid.
  void add(std::size_t grid, std::vector<ModelRow>& lines) const {
    const LineWalk walk(*axes_, grid);
    const NameNumbers numbers(*axes_, grid);
    std::vector<Size> bases, points;
    const Size preferred = walk.others.offset(std::vector<std::size_t>(walk.others.strides.size()));
    walk.names.for_each([&](Size offset) {
      const Size base = axes_->first_point(grid) + offset;
      if (text_of(axes_->value("task", base)) == "training") return;
      bases.push_back(base);
      walk.budgets.for_each([&](Size budget) { points.push_back(base + preferred + budget); });
    });
    const PointRows rows(*database_, run_, std::move(points));
    std::map<std::array<int, 4>, std::size_t> known;
    for (const Size base : bases) {
      auto entries = entries_of(walk, rows, base, base + preferred);
      if (entries.empty()) continue;
      const auto [at, added] = known.try_emplace(numbers.at(base), lines.size());
      if (added) lines.push_back(line_at(*axes_, entries.front().point));
      auto& all = lines[at->second].entries;
      std::ranges::move(entries, std::back_inserter(all));
    }
  }

 private:
  /// The first setting of the other axes that was not excluded.
  std::vector<BudgetPoint> entries_of(const LineWalk& walk, const PointRows& rows, Size base,
                                      Size first) const {
    std::vector<BudgetPoint> entries;
    walk.budgets.for_each([&](Size budget) {
      const auto* estimate = rows.find(first + budget);
      if (estimate) entries.push_back(entry(first + budget, *estimate));
    });
    std::vector<std::size_t> other(walk.others.strides.size());
    for (int tries = 1; entries.empty() && tries < max_tries; ++tries) {
      if (!advance(other, walk.others.orders)) break;
      walk.budgets.for_each([&](Size budget) {
        const Size point = base + walk.others.offset(other) + budget;
        const auto estimate = database_->find(run_, point);
        if (estimate) entries.push_back(entry(point, *estimate));
      });
    }
    return entries;
  }
  BudgetPoint entry(Size point, const model::Estimate& estimate) const {
    const double bytes = number_of(axes_->value("gpu_budget_bytes", point), -1);
    const auto context = contexts_.find(point);
    return {point, bytes < 0 ? std::nullopt : std::optional(static_cast<Size>(bytes)), estimate,
            context == contexts_.end() ? std::nullopt : std::optional(context->second)};
  }

  const Database* database_;
  const Axes* axes_;
  std::int64_t run_;
  std::map<Size, Size> contexts_;
};

/// A line with the engine's own budget and with none at all keeps the better one. As in `estimate`,
/// that is the CPU alone where cards would wait for weights.
void keep_better_of_two(std::vector<BudgetPoint>& entries) {
  if (entries.size() != 2 || entries.back().budget || entries.front().budget != Size{0}) return;
  const auto place = [](const BudgetPoint& entry) { return model::way_place(entry.estimate, {}); };
  const bool alone = model::fits(entries.front().estimate) &&
                     !model::is_on_gpus(entries.back().estimate) &&
                     place(entries.front()) < place(entries.back());
  entries.erase(alone ? entries.end() - 1 : entries.begin());
}

}  // namespace

std::vector<ModelRow> lines_of(const Database& database, const Axes& axes, std::int64_t run) {
  const Database::Snapshot snapshot(database);
  const LineReader reader(database, axes, run);
  std::vector<ModelRow> lines;
  for (std::size_t grid = 0; grid < axes.info().grids.size(); ++grid) reader.add(grid, lines);
  for (ModelRow& line : lines) {
    std::ranges::stable_sort(line.entries, {}, size_of);
    const auto same = [](const BudgetPoint& a, const BudgetPoint& b) {
      return a.budget == b.budget;
    };
    line.entries.erase(std::unique(line.entries.begin(), line.entries.end(), same),
                       line.entries.end());
    keep_better_of_two(line.entries);
  }
  set_labels(lines);
  return lines;
}

std::vector<bool> repeated(const std::vector<ModelRow>& lines) {
  const auto key = [](const ModelRow& line, std::string_view precision) {
    return std::tuple<std::size_t, std::string_view, std::string_view, std::string_view,
                      std::string_view>(line.grid, line.machine, line.runtime, line.model,
                                        precision);
  };
  std::set<decltype(key(lines.front(), {}))> named;
  for (const ModelRow& line : lines) named.insert(key(line, line.precision));
  std::vector<bool> all;
  for (const ModelRow& line : lines)
    all.push_back(line.precision != line.held && named.contains(key(line, line.held)));
  return all;
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
