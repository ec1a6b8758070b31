#include "sweep/training/grid.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "model/infer/scenario/verdict.hpp"
#include "model/train/outcome.hpp"
#include "model/train/rank.hpp"
#include "model/train/shape.hpp"
#include "model/train/time.hpp"
#include "sweep/grid/digits.hpp"
#include "sweep/run/fingerprint.hpp"
#include "sweep/training/axes.hpp"
#include "sweep/training/row.hpp"

namespace headroom::sweep {
namespace {

using report::AxisValue;

report::Digit adapter_columns(const std::vector<std::string>& values) {
  report::Axis method{"adapters", {}}, rank{"rank", {}}, targets{"targets", {}};
  for (const std::string& text : values) {
    const AdapterValue value = adapter_value(text);
    const bool full = value.method == "full";
    method.values.emplace_back(value.method);
    rank.values.push_back(full ? AxisValue() : AxisValue(value.request.rank));
    targets.values.push_back(
        full ? AxisValue()
        : value.request.targets.empty()
            ? AxisValue(std::string("usual"))
            : AxisValue(fmt::format("{}", fmt::join(value.request.targets, ","))));
  }
  return {method, rank, targets};
}

template <class Row, class Make>
report::Digit row_columns(const std::vector<const Row*>& rows, Make make) {
  std::vector<std::string> names;
  for (const Row* row : rows) names.emplace_back(row->name);
  report::Digit columns = make(names, rows);
  for (const Row* row : rows) columns.front().fingerprints.push_back(fingerprint(*row));
  return columns;
}

/// Axes that share a digit, and the values that each has at the digit's positions.
struct Group {
  LinkGroup<TrainingDraft> linked;
  std::vector<std::vector<std::string>> texts;

  /// The values of an axis; null: it is not in this group.
  const std::vector<std::string>* of(std::string_view key) const {
    for (std::size_t i = 0; i < texts.size(); ++i)
      if (linked.axes[i]->form.key == key) return &texts[i];
    return nullptr;
  }
};

/// Every value of `slow` with every value of `fast`.
Group product(const Group& slow, const Group& fast) {
  Group all = slow;
  all.linked.axes.insert(all.linked.axes.end(), fast.linked.axes.begin(), fast.linked.axes.end());
  all.linked.values.clear();
  all.texts.assign(all.linked.axes.size(), {});
  for (std::size_t i = 0; i < slow.linked.values.size(); ++i)
    for (std::size_t j = 0; j < fast.linked.values.size(); ++j) {
      auto& changes = all.linked.values.emplace_back(slow.linked.values[i]);
      const auto& more = fast.linked.values[j];
      changes.insert(changes.end(), more.begin(), more.end());
      for (std::size_t k = 0; k < slow.texts.size(); ++k) all.texts[k].push_back(slow.texts[k][i]);
      for (std::size_t k = 0; k < fast.texts.size(); ++k)
        all.texts[slow.texts.size() + k].push_back(fast.texts[k][j]);
    }
  return all;
}

/// Puts the axis `key` into the group of runtimes, which is first.
void join_runtimes(std::vector<Group>& groups, std::string_view key) {
  const auto with = [&](std::string_view axis) {
    return std::ranges::find_if(groups, [&](const Group& each) { return each.of(axis); });
  };
  const auto runtimes = with("runtimes"), other = with(key);
  if (other == groups.end() || other == runtimes) return;
  *runtimes = product(*runtimes, *other);
  groups.erase(other);
}

int stage_of(const model::TrainingRuntime& runtime, std::string_view zero) {
  return std::max(runtime.zero, zero.empty() ? 0 : zero.front() - '0');
}

/// A runtime under a ZeRO stage ("": its own) on a machine.
PacedRuntime paced(const std::string& runtime, std::string_view zero, const Machine& machine) {
  const model::TrainingRuntime& asked = model::training_runtime(runtime);
  return {&model::under_zero(asked, stage_of(asked, zero)),
          machine.devices.empty() ? nullptr : &machine.devices.front()};
}

bool same_intervals(const PacedRuntime& a, const PacedRuntime& b) {
  const auto same = [](const model::Constant& x, const model::Constant& y) {
    return x.low == y.low && x.high == y.high && x.measurements == y.measurements;
  };
  return a.runtime == b.runtime && same(a.pace().interval, b.pace().interval);
}

/// The groups of a grid. Intervals of runtimes are facts of their digit, so it has the ZeRO stages
/// and the machines too where intervals depend on them.
std::vector<Group> groups_of(const Spec& spec, const GridSpec& grid, Names& names) {
  std::vector<Group> groups;
  for (auto& linked : link_groups(spec, grid, training_axes(), names)) {
    Group& group = groups.emplace_back(Group{std::move(linked), {}});
    for (const auto* axis : group.linked.axes) group.texts.push_back(grid.values(axis->form.key));
  }
  const std::vector<std::string> unsaid{""};
  const auto& stages = grid.values("zero").empty() ? unsaid : grid.values("zero");
  const auto& machines = grid.values("machines");
  bool by_stage = false, by_machine = false;
  for (const auto& runtime : grid.values("runtimes"))
    for (const auto& stage : stages)
      for (const auto& machine : machines) {
        const auto at = [&](const std::string& zero, const std::string& name) {
          return paced(runtime, zero, *names.machine(name));
        };
        const PacedRuntime here = at(stage, machine);
        by_stage = by_stage || !same_intervals(here, at(stages.front(), machine));
        by_machine = by_machine || !same_intervals(here, at(stage, machines.front()));
      }
  if (by_stage) join_runtimes(groups, "zero");
  if (by_machine) join_runtimes(groups, "machines");
  return groups;
}

/// Runtimes with their intervals, and the ZeRO stage where the grid says none.
report::Digit runtime_columns(const Group& group, const GridSpec& grid, Names& names) {
  const auto value = [&](std::string_view key, std::size_t i) -> std::string {
    if (const auto* own = group.of(key)) return (*own)[i];
    return grid.values(key).empty() ? "" : grid.values(key).front();
  };
  std::vector<PacedRuntime> rows;
  report::Axis stages{"zero", {}};
  for (std::size_t i = 0; i < group.linked.values.size(); ++i) {
    rows.push_back(
        paced(value("runtimes", i), value("zero", i), *names.machine(value("machines", i))));
    stages.values.emplace_back(std::int64_t{rows.back().runtime->zero});
  }
  report::Digit columns = training_runtime_columns(rows);
  if (grid.values("zero").empty()) columns.push_back(stages);
  return columns;
}

report::Digit columns_of(const AxisForm& axis, const std::vector<std::string>& values,
                         const GridSpec& grid, Names& names) {
  if (axis.key == "adapters") return adapter_columns(values);
  if (axis.key == "models") {
    std::vector<const model::Model*> rows;
    for (const auto& value : values) rows.push_back(names.models.at(value));
    report::Digit columns = row_columns(rows, report::model_digit);
    if (grid.values("sequences").empty()) {
      report::Axis& lengths = columns.emplace_back(report::Axis{"sequence", {}});
      for (const auto* row : rows) lengths.values.emplace_back(model::usual_sequence(*row));
    }
    return columns;
  }
  if (axis.key == "machines") {
    std::vector<const Machine*> rows;
    for (const auto& value : values) rows.push_back(names.machine(value));
    const auto& prices = names.job.prices;
    return row_columns(rows, [&](const auto& written, const auto& machines) {
      return report::machine_digit(written, machines, prices ? &*prices : nullptr);
    });
  }
  report::Axis column{std::string(axis.column), {}};
  for (const auto& value : values)
    column.values.push_back(axis.values == AxisValues::numbers
                                ? AxisValue(std::int64_t{std::stoll(value)})
                                : AxisValue(value));
  return {column};
}

}  // namespace

void TrainingGrid::hold_all(const Spec& spec, const GridSpec& grid, const Names& names) {
  for (const auto& name : grid.values("models")) {
    const model::Model& m = *names.models.at(name);
    Held& held = held_[&m];
    held.plain = std::make_unique<model::QuantisedModel>(model::counted(m));
    for (const auto& text : grid.values("adapters")) {
      try {
        const AdapterValue value = adapter_value(text);
        if (value.method == "full") continue;
        adapters_[{&m, text}] = std::make_unique<model::Adapter>(model::adapt(m, value.request));
        if (!value.quantised || held.base[0]) continue;
        for (const bool alone : {false, true}) {
          model::TrainingRuntime runtime;
          runtime.modules_alone = alone;
          auto& base = held.base[alone ? 1 : 0];
          base = std::make_unique<model::QuantisedModel>(model::frozen_base(m, runtime));
          if (!base->refusal.empty()) throw std::invalid_argument(base->refusal);
        }
      } catch (const std::invalid_argument& e) {
        throw spec.error(grid, "adapters", fmt::format("'{}' of {}: {}", text, name, e.what()));
      }
    }
  }
}

TrainingGrid::TrainingGrid(const Spec& spec, const GridSpec& grid, Names& names)
    : says_sequence_(!grid.values("sequences").empty()) {
  hold_all(spec, grid, names);
  for (Group& group : groups_of(spec, grid, names)) {
    auto& columns = columns_.emplace_back();
    for (std::size_t i = 0; i < group.texts.size(); ++i) {
      const AxisForm& axis = group.linked.axes[i]->form;
      const auto made = axis.key == "runtimes" ? runtime_columns(group, grid, names)
                                               : columns_of(axis, group.texts[i], grid, names);
      columns.insert(columns.end(), made.begin(), made.end());
    }
    digits_.push_back(std::move(group.linked.values));
  }
}

model::Estimate TrainingGrid::evaluate(std::span<const Size> point,
                                       model::TrainingEvaluator& evaluator) const {
  TrainingDraft draft;
  for (std::size_t k = 0; k < digits_.size(); ++k)
    for (const auto& change : digits_[k][static_cast<std::size_t>(point[k])]) change(draft);
  model::TrainingScenario& s = draft.step;
  const Held& held = held_.at(s.model);
  s.plain = held.plain.get();
  if (const auto adapter = adapters_.find({s.model, draft.adapters}); adapter != adapters_.end()) {
    s.adapter = adapter->second.get();
    if (draft.adapters.front() == 'q') s.base = held.base[s.runtime->modules_alone ? 1 : 0].get();
  }
  model::Parallelism& p = s.parallel;
  p.sequence = p.tensor > 1 && s.runtime->sequence_parallel;
  if (!says_sequence_) s.sequence = model::usual_sequence(*s.model);
  s.zero = draft.zero.value_or(s.runtime->zero);
  if (s.zero < s.runtime->zero)  // it shards at least that much, as estimate says
    return model::refused_step(model::Reason::parallelism_unsupported);
  s.runtime = &model::under_zero(*s.runtime, s.zero);
  s.recipe = draft.recipe != nullptr
                 ? draft.recipe
                 : &model::usual_recipe(*s.runtime, s.zero, model::trained_by(s));
  s.recomputation_given = draft.recomputation.has_value();
  s.recomputation = draft.recomputation.value_or(model::usual_recomputation(*s.runtime, *s.recipe));
  try {
    const model::TrainingEstimate memory = evaluator(s);
    model::Estimate outcome = model::outcome_of(s, memory, *draft.machine);
    if (outcome.verdict < model::Verdict::does_not_fit)
      model::put_time(outcome,
                      model::time_of_step(s, evaluator.shape(), memory, *draft.machine,
                                          model::training_pace(s.runtime->paced_as(),
                                                               draft.machine->devices.front())));
    return outcome;
  } catch (const model::ImpossibleStep& impossible) {
    return model::refused_step(impossible.reason);
  }
}

}  // namespace headroom::sweep
