#include "sweep/screen/diff_names.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/machine.hpp"
#include "report/columns.hpp"
#include "report/words.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {

std::string short_machine_name(const std::string& machine) {
  const std::string_view cards = cards_in_name(machine);
  return std::string(cards.starts_with("1x ") ? kind_in_name(machine) : cards);
}

std::string axis_words(const report::Diff& diff, const report::PointChange& change) {
  const bool now = change.now.has_value();
  const report::Axes& axes = (now ? diff.after() : diff.before()).axes;
  const auto& digits = axes.info().grids[axes.grid_of(now ? *change.after : *change.before)].digits;
  const std::string part =
      report::text_of(axes.value("gpu_budget_relative", now ? *change.after : *change.before));
  const auto varies = [&](std::string_view column) {
    for (const report::Digit& digit : digits)
      for (const report::Axis& axis : digit)
        if (axis.column == column)
          return std::ranges::any_of(axis.values,
                                     [&](const auto& v) { return v != axis.values.front(); });
    return false;
  };
  std::string text;
  for (const auto& column : report::columns()) {
    if (column.kind != report::ColumnKind::axis) continue;
    const bool model = column.name == "model", machine = column.name == "machine";
    if (!model && !machine && !varies(column.name)) continue;
    const char* comma = text.empty() ? "" : ", ";
    if (column.name == "gpu_budget_bytes" && !part.empty()) {
      if (part != "max") text += fmt::format("{}{} {}", comma, column.heading, part);
      continue;
    }
    const auto cell = diff.value(column, change, now);
    if (const auto* name = std::get_if<std::string_view>(&cell))
      text += comma + (model     ? std::string(short_model_name(*name))
                       : machine ? short_machine_name(std::string(*name))
                                 : std::string(*name));
    else if (const auto* n = std::get_if<std::int64_t>(&cell))
      text += column.shown == report::DisplayUnit::gib
                  ? fmt::format("{}{} {}", comma, column.heading, report::gib(Bytes(*n)))
                  : fmt::format("{}{} {}", comma, column.heading, *n);
  }
  return text;
}

}  // namespace headroom::sweep
