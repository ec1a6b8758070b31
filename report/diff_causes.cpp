// Why two runs differ: what their axes name, and what is known of it.
#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "report/diff.hpp"
#include "report/format.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

/// Axes that name something with facts of its own, and what a change of these facts is called.
constexpr std::pair<std::string_view, std::string_view> cause_words[] = {
    {"model", "model metadata"}, {"machine", "hardware"}, {"runtime", "factors"}};
constexpr std::string_view program = "program version";
constexpr std::string_view money_columns[] = {"cards_list_price_usd", "purchase_price",
                                              "owned_per_hour", "used_per_hour", "rent_per_hour"};

/// The known prices of each machine.
std::map<std::string, std::string> prices_of(const RunInfo& info) {
  std::map<std::string, std::string> all;
  for (const GridShape& grid : info.grids)
    for (const Digit& digit : grid.digits) {
      const auto machine = std::ranges::find(digit, "machine", &Axis::column);
      if (machine == digit.end()) continue;
      for (std::size_t i = 0; i < machine->values.size(); ++i) {
        std::string known;
        for (const Axis& axis : digit)
          if (std::ranges::find(money_columns, axis.column) != std::end(money_columns))
            known += text_of(&axis.values[i]) + '\n';
        all.emplace(text_of(&machine->values[i]), known);
      }
    }
  return all;
}

/// The fingerprint of what an axis names at a point; none: the axis names nothing.
std::optional<std::int64_t> fingerprint(const Axes& axes, std::string_view column, Size point) {
  const auto grid = axes.grid_of(point);
  const auto& digits = axes.info().grids[grid].digits;
  for (std::size_t d = 0; d < digits.size(); ++d)
    for (const Axis& axis : digits[d])
      if (axis.column == column && !axis.fingerprints.empty())
        return axis.fingerprints[static_cast<std::size_t>(axes.position(grid, d, point))];
  return std::nullopt;
}

/// Every value of a column of kind axis, over all grids, with what it names.
std::map<std::string, std::int64_t> values_of(const RunInfo& info, std::string_view column) {
  std::map<std::string, std::int64_t> all;
  for (const GridShape& grid : info.grids)
    for (const Digit& digit : grid.digits)
      for (const Axis& axis : digit)
        if (axis.column == column)
          for (std::size_t i = 0; i < axis.values.size(); ++i)
            all.emplace(text_of(&axis.values[i]),
                        axis.fingerprints.empty() ? 0 : axis.fingerprints[i]);
  return all;
}

/// A value of an axis for readers; empty where there is none.
std::string shown_value(const Column& column, const std::string& value) {
  return column.shown == DisplayUnit::gib && !value.empty() ? gib(Bytes(std::stoll(value))) : value;
}

void join(std::string& all, std::string_view word) {
  if (!all.empty()) all += "; ";
  all += word;
}

}  // namespace

std::string Diff::cause(const PointChange& change) const {
  if (!change.old || !change.now)
    return change.now ? presence_cause(*after_, *before_, *change.after)
                      : presence_cause(*before_, *after_, *change.before);
  std::string all;
  for (const auto& [column, word] : cause_words)
    if (fingerprint(before_->axes, column, *change.before) !=
        fingerprint(after_->axes, column, *change.after))
      join(all, word);
  if (before_->run.version != after_->run.version) join(all, program);
  return all.empty() ? "unexplained" : all;
}

std::string Diff::presence_cause(const Source& here, const Source& other, Size point) const {
  std::string all;
  for (const Digit& digit : here.axes.info().grids[here.axes.grid_of(point)].digits)
    for (const Axis& axis : digit) {
      const Column* column = find_column(axis.column);
      if (!column || column->kind != ColumnKind::axis) continue;
      const auto value = text_of(here.axes.value(axis.column, point));
      if (!value.empty() && !values_of(other.axes.info(), axis.column).contains(value))
        join(all, fmt::format("spec: {} {}", column->heading, shown_value(*column, value)));
    }
  return all.empty() ? "spec: this combination" : all;
}

std::vector<InputChange> Diff::inputs() const {
  std::vector<InputChange> all;
  const RunInfo &old = before_->axes.info(), &now = after_->axes.info();
  if (old.version != now.version)
    all.push_back({std::string(program), old.version + " → " + now.version, "changed"});
  for (const Column& column : columns()) {
    if (column.kind != ColumnKind::axis) continue;
    const auto before = values_of(old, column.name), after = values_of(now, column.name);
    const auto word = std::ranges::find(cause_words, column.name,
                                        &std::pair<std::string_view, std::string_view>::first);
    for (const auto& [value, content] : after)
      if (const auto was = before.find(value); was == before.end())
        all.push_back({fmt::format("spec: {}", column.heading), shown_value(column, value), "new"});
      else if (word != std::end(cause_words) && was->second != content)
        all.push_back({std::string(word->second), value, "changed"});
    for (const auto& [value, content] : before)
      if (!after.contains(value))
        all.push_back(
            {fmt::format("spec: {}", column.heading), shown_value(column, value), "gone"});
  }
  const auto cost = prices_of(old);
  for (const auto& [machine, now_costs] : prices_of(now))
    if (const auto was = cost.find(machine); was != cost.end() && was->second != now_costs)
      all.push_back({"price", machine, "changed"});
  for (std::size_t g = 0; g < std::min(old.grids.size(), now.grids.size()); ++g)
    if (old.grids[g].excluded != now.grids[g].excluded)
      all.push_back({"spec: exclude", fmt::format("of grid {}", g + 1), "changed"});
  std::erase_if(all, [](const InputChange& each) { return each.what.empty(); });
  return all;
}

}  // namespace headroom::report
