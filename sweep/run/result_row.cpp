#include "sweep/run/result_row.hpp"

namespace headroom::sweep {
report::Table result_row(const report::Digit& axes, const model::Estimate& estimate,
                         const model::IntervalFactors& factors) {
  using enum report::ColumnKind;
  report::Table table{{}, {{}}};
  for (const report::Column& column : report::columns()) {
    if (column.kind == point) continue;
    if (column.applies_to == report::AppliesTo::training && estimate.task != model::Task::training)
      continue;
    if (column.applies_to == report::AppliesTo::serving && estimate.served.running == 0) continue;
    report::Value value;
    if (column.kind == axis || column.kind == fact) {
      for (const auto& each : axes)
        if (each.column == column.name)
          std::visit([&](const auto& held) { value = held; }, each.values.front());
    } else {
      value = report::owned(report::value_of(column, estimate, factors));
    }
    table.names.emplace_back(column.name);
    table.rows[0].push_back(std::move(value));
  }
  return table;
}

}  // namespace headroom::sweep
