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

report::Digit columns_of(const AxisForm& axis, const std::vector<std::string>& values,
                         Names& names) {
  if (axis.key == "runtimes") {
    std::vector<const model::TrainingRuntime*> rows;
    for (const auto& value : values) rows.push_back(&model::training_runtime(value));
    return training_runtime_columns(rows);
  }
  if (axis.key == "adapters") return adapter_columns(values);
  if (axis.key == "models") {
    std::vector<const model::Model*> rows;
    for (const auto& value : values) rows.push_back(names.models.at(value));
    return row_columns(rows, report::model_digit);
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

TrainingGrid::TrainingGrid(const Spec& spec, const GridSpec& grid, Names& names) {
  hold_all(spec, grid, names);
  for (auto& group : link_groups(spec, grid, training_axes(), names)) {
    auto& columns = columns_.emplace_back();
    for (const auto* axis : group.axes) {
      const auto made = columns_of(axis->form, grid.values(axis->form.key), names);
      columns.insert(columns.end(), made.begin(), made.end());
    }
    digits_.push_back(std::move(group.values));
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
  s.zero = std::max(draft.zero, s.runtime->zero);
  s.runtime = &model::under_zero(*s.runtime, s.zero);
  s.recomputation = draft.recomputation.value_or(s.runtime->recomputation);
  s.recipe = draft.recipe != nullptr
                 ? draft.recipe
                 : &model::usual_recipe(*s.runtime, s.zero, s.adapter != nullptr);
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
