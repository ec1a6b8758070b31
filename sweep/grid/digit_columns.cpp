// Digits as the database keeps them: columns of axis values and of the facts that follow from them.
#include <algorithm>
#include <string>
#include <utility>

#include "sweep/grid/digits.hpp"
#include "sweep/grid/inference_axes.hpp"
#include "sweep/run/fingerprint.hpp"

namespace headroom::sweep {

using model::Scenario;
using report::AxisValue;

namespace {

/// Columns of what is served with a model.
void add_extras(report::Digit& columns, const std::vector<Choice>& digit) {
  for (std::size_t c = 0; c < std::size(extra_axes); ++c) {
    if (!digit.front().extras[c]) continue;
    report::Axis axis{std::string(extra_axes[c].column), {}};
    for (const Choice& choice : digit) {
      const ServedExtra& each = *choice.extras[c];
      axis.values.push_back(each.text);
      // A draft model needs its name resolved; other values need only their text.
      axis.fingerprints.push_back(each.proposer ? fingerprint(*each.proposer->model) : 0);
    }
    columns.push_back(std::move(axis));
  }
}

bool has_budget(const Scenario& s) {
  return s.gpu_budget >= Bytes(0) && s.gpu_budget != model::unlimited;
}

/// Budgets, and what they are of the card. None where the engine's own holds.
void add_budgets(report::Digit& columns, const std::vector<Choice>& digit) {
  report::Axis bytes{"gpu_budget_bytes", {}}, relative{"gpu_budget_relative", {}};
  for (const Choice& choice : digit) {
    const Scenario& s = choice.decides;
    std::string words;
    if (has_budget(s)) {
      const bool is_max = s.machine && s.gpu_budget == largest_card(*s.machine);
      words = is_max ? "max" : choice.budget->relative();
    }
    bytes.values.push_back(has_budget(s) ? AxisValue(s.gpu_budget.count()) : AxisValue());
    relative.values.push_back(words.empty() ? AxisValue() : AxisValue(std::move(words)));
  }
  columns.push_back(std::move(bytes));
  columns.push_back(std::move(relative));
}

}  // namespace

report::Digit columns_of(const std::vector<Choice>& digit, const std::optional<Prices>& prices) {
  report::Digit columns;
  const model::Scenario& first = digit.front().decides;
  const auto add = [&](std::string_view name, auto&& value) {
    report::Axis axis{std::string(name), {}};
    for (const Choice& choice : digit) axis.values.push_back(value(choice.decides));
    columns.push_back(std::move(axis));
  };
  const auto add_rows = [&](auto&& row_of, auto make) {
    std::vector<std::string> names;
    std::vector<decltype(row_of(first))> rows;
    for (const Choice& choice : digit) {
      rows.push_back(row_of(choice.decides));
      names.emplace_back(rows.back()->name);
    }
    auto made = make(names, rows);
    made.front().fingerprints = fingerprints(rows);
    columns.insert(columns.end(), made.begin(), made.end());
  };
  if (first.weights) {
    add_rows([](const Scenario& s) { return s.weights->model; }, report::model_digit);
    add("precision",
        [](const Scenario& s) { return AxisValue(std::string(s.weights->scheme->name)); });
    report::Axis published{"as_published", {}};
    for (const Choice& choice : digit) published.values.emplace_back(Size{choice.as_published});
    columns.push_back(std::move(published));
  }
  if (first.kv_precision.is_complete())
    add("kv_precision", [](const Scenario& s) { return AxisValue(s.kv_precision.name()); });
  add_extras(columns, digit);
  for (const auto* axis : number_axes())
    if (std::ranges::any_of(digit, [&](const Choice& c) { return c.decides.*axis->number > 0; }))
      add(axis->form.column, [&](const Scenario& s) {
        const Size number = s.*axis->number;
        if (number <= 0) return AxisValue();
        return axis->form.unit > 0 ? AxisValue(axis->form.unit * static_cast<double>(number))
                                   : AxisValue(number);
      });
  if (first.runtime) add_rows([](const Scenario& s) { return s.runtime; }, report::runtime_digit);
  if (first.machine)
    add_rows([](const Scenario& s) { return s.machine; },
             [&](const auto& names, const auto& machines) {
               return report::machine_digit(names, machines, prices ? &*prices : nullptr);
             });
  if (std::ranges::any_of(digit, [](const Choice& c) { return has_budget(c.decides); }))
    add_budgets(columns, digit);
  return columns;
}

}  // namespace headroom::sweep
