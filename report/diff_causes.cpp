// Why two runs differ: what their axes name, and what is known of it.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <set>
#include <utility>

#include "report/diff.hpp"
#include "report/format.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

/// Axes that name something with facts of its own, and what a change of these facts is called.
constexpr std::pair<std::string_view, std::string_view> cause_words[] = {
    {"model", "model metadata"}, {"machine", "hardware"}, {"runtime", "factors"}};
constexpr std::string_view program = "program version";
constexpr std::string_view prices[] = {"cards_list_price_usd", "purchase_price", "owned_per_hour",
                                       "used_per_hour", "rent_per_hour"};

/// A known price and its unit.
struct KnownPrice {
  std::string value = "none", unit;
};
/// The prices of each machine, by column.
std::map<std::string, std::map<std::string_view, KnownPrice>> prices_of(const RunInfo& info) {
  std::map<std::string, std::map<std::string_view, KnownPrice>> all;
  for (const GridShape& grid : info.grids)
    for (const Digit& digit : grid.digits) {
      const auto machine = std::ranges::find(digit, "machine", &Axis::column);
      const auto currency = std::ranges::find(digit, "currency", &Axis::column);
      if (machine == digit.end()) continue;
      for (std::size_t i = 0; i < machine->values.size(); ++i)
        for (const Axis& axis : digit) {
          const auto column = std::ranges::find(prices, axis.column);
          if (column == std::end(prices) || text_of(&axis.values[i]).empty()) continue;
          std::string unit(find_column(axis.column)->unit);
          if (unit.starts_with("currency") && currency != digit.end())
            unit.replace(0, std::string_view("currency").size(), text_of(&currency->values[i]));
          all[text_of(&machine->values[i])][*column] = {
              fmt::format("{:.6g}", number_of(&axis.values[i], 0)), unit};
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
  std::int64_t bytes = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bytes);
  // A damaged file may have any word there.
  const bool whole = error == std::errc{} && end == value.data() + value.size() && bytes >= 0;
  return column.shown == DisplayUnit::gib && whole ? gib(Bytes(bytes)) : value;
}

/// Parts of the card ("max", "50%") that are budgets of a run: all, or those that come to `bytes`.
std::set<std::string> parts_of_cards(const RunInfo& info, const std::string* bytes) {
  std::set<std::string> parts;
  for (const GridShape& grid : info.grids)
    for (const Digit& digit : grid.digits) {
      const auto part = std::ranges::find(digit, "gpu_budget_relative", &Axis::column);
      const auto budget = std::ranges::find(digit, "gpu_budget_bytes", &Axis::column);
      if (part == digit.end() || budget == digit.end()) continue;
      for (std::size_t i = 0; i < part->values.size(); ++i)
        if (!bytes || text_of(&budget->values[i]) == *bytes)
          parts.insert(text_of(&part->values[i]));
    }
  parts.erase("");
  return parts;
}

/// True for a budget that is the same part of a card in both runs, whatever its bytes.
bool is_part_of_card_in_both(const RunInfo& a, const RunInfo& b, const std::string& bytes) {
  const auto here = parts_of_cards(a, &bytes), there = parts_of_cards(b, nullptr);
  return std::ranges::any_of(here, [&](const auto& part) { return there.contains(part); });
}

/// Facts of two contents that differ, "bandwidth of rtx-4090: 1008 → 1100 GB/s". Parts of another
/// name stand for each other: the card of one machine for the card of the other.
std::vector<InputChange> differing_facts(const RunInfo& old, std::int64_t was, const RunInfo& now,
                                         std::int64_t is, std::string_view cause) {
  std::vector<InputChange> all;
  const auto a = old.facts.find(was), b = now.facts.find(is);
  if (a == old.facts.end() || b == now.facts.end()) return all;
  const auto key = [](const Fact& f) { return std::pair(f.part, f.name); };
  const auto add = [&](const Fact& f, std::string before, std::string after) {
    all.push_back({std::string(cause), fmt::format("{} of {}", f.name, f.owner), "changed",
                   std::move(before), std::move(after), f.unit});
  };
  std::map<std::pair<std::string, std::string>, const Fact*> before;
  for (const Fact& f : a->second) before.emplace(key(f), &f);
  for (const Fact& f : b->second) {
    const auto other = before.find(key(f));
    const std::string earlier = other == before.end() ? "none" : other->second->value;
    if (earlier != f.value) add(f, earlier, f.value);
    if (other != before.end()) before.erase(other);
  }
  for (const Fact& f : a->second)
    if (before.contains(key(f))) add(f, f.value, "none");
  return all;
}

/// A few changes in one line.
std::string first_words(const std::vector<InputChange>& changes) {
  constexpr std::size_t most = 3;
  std::string all;
  for (std::size_t i = 0; i < std::min(changes.size(), most); ++i)
    all += (i == 0 ? "" : "; ") + words_of(changes[i]);
  return changes.size() > most ? all + fmt::format("; and {} more", changes.size() - most) : all;
}

void add_price_changes(std::vector<InputChange>& all, const RunInfo& old, const RunInfo& now,
                       const std::optional<ReplacedMachine>& replaced) {
  auto before = prices_of(old), after = prices_of(now);
  const auto machines = values_of(old, "machine");
  for (const auto& [machine, content] : values_of(now, "machine")) {
    const std::string& was = replaced && machine == replaced->to ? replaced->from : machine;
    if (!machines.contains(was)) continue;
    for (const auto column : prices) {
      KnownPrice earlier = before[was][column], later = after[machine][column];
      if (earlier.value == later.value && earlier.unit == later.unit) continue;
      std::string unit = later.unit.empty() ? earlier.unit : later.unit;
      if (!earlier.unit.empty() && earlier.unit != unit) {  // another currency
        earlier.value += ' ' + earlier.unit;
        later.value += ' ' + std::exchange(unit, {});
      }
      all.push_back({"price", fmt::format("{} of {}", find_column(column)->heading, machine),
                     "changed", earlier.value, later.value, unit});
    }
  }
}

void join(std::string& all, std::string_view word) {
  if (!all.empty()) all += "; ";
  all += word;
}

}  // namespace

std::span<const std::string_view> money_columns() { return prices; }

std::string words_of(const InputChange& change) {
  if (change.before.empty() && change.after.empty())
    return fmt::format("{} {}: {}", change.cause, change.how, change.what);
  return fmt::format("{}: {} → {}{}{}", change.what, change.before, change.after,
                     change.unit.empty() ? "" : " ", change.unit);
}

/// Changed facts of everything that `column` names in both runs; the name alone where none is
/// known.
std::vector<InputChange> Diff::facts_changed(std::string_view column, std::string_view word) const {
  std::vector<InputChange> all;
  const RunInfo &old = before_->axes.info(), &now = after_->axes.info();
  const auto before = values_of(old, column);
  for (const auto& [name, content] : values_of(now, column)) {
    const bool stands_in = replaced_ && column == "machine" && name == replaced_->to;
    const auto was = before.find(stands_in ? replaced_->from : name);
    if (was == before.end() || was->second == content) continue;
    auto facts = differing_facts(old, was->second, now, content, word);
    if (facts.empty() && !stands_in) facts.push_back({std::string(word), name, "changed"});
    for (auto& each : facts)
      if (std::ranges::find(all, each) == all.end()) all.push_back(std::move(each));
  }
  return all;
}

void Diff::find_causes() {
  const RunInfo &old = before_->axes.info(), &now = after_->axes.info();
  for (const auto& [column, word] : cause_words) {
    const auto before = values_of(old, column);
    for (const auto& [name, content] : values_of(now, column)) {
      const auto was = before.find(name);
      if (was == before.end() || was->second == content) continue;
      const auto facts = differing_facts(old, was->second, now, content, word);
      causes_[{was->second, content}] =
          facts.empty() ? std::string(word) : fmt::format("{}: {}", word, first_words(facts));
    }
  }
}

std::string Diff::cause(Size before, Size after) const {
  std::string all;
  for (const auto& [column, word] : cause_words) {
    const auto was = fingerprint(before_->axes, column, before);
    const auto is = fingerprint(after_->axes, column, after);
    if (was == is) continue;
    const auto old_name = text_of(before_->axes.value(column, before));
    const auto name = text_of(after_->axes.value(column, after));
    if (column == "machine" && name != old_name) {
      join(all, fmt::format("spec: {} in place of {}", name, old_name));
      continue;
    }
    const auto known = causes_.find({was.value_or(0), is.value_or(0)});
    if (name == old_name) join(all, known == causes_.end() ? word : known->second);
  }
  if (before_->run.version != after_->run.version) join(all, program);
  return all;
}

std::string Diff::cause(const PointChange& change) const {
  if (!change.old || !change.now)
    return change.now ? presence_cause(*after_, *before_, *change.after)
                      : presence_cause(*before_, *after_, *change.before);
  const std::string known = cause(*change.before, *change.after);
  return known.empty() ? "unexplained" : known;
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
    all.push_back(
        {std::string(program), std::string(program), "changed", old.version, now.version});
  if (replaced_)
    all.push_back({"spec: machine", "machine", "changed", replaced_->from, replaced_->to});
  add_price_changes(all, old, now, replaced_);
  for (const auto& [column, word] : cause_words) {
    auto facts = facts_changed(column, word);
    all.insert(all.end(), facts.begin(), facts.end());
  }
  for (const Column& column : columns()) {
    if (column.kind != ColumnKind::axis) continue;
    const auto before = values_of(old, column.name), after = values_of(now, column.name);
    const auto add = [&](const auto& values, const auto& others, const RunInfo& here,
                         const RunInfo& there, const char* how) {
      for (const auto& [value, content] : values) {
        const bool replaced = replaced_ && column.name == "machine" &&
                              (value == replaced_->from || value == replaced_->to);
        const bool part =
            column.name == "gpu_budget_bytes" && is_part_of_card_in_both(here, there, value);
        if (!value.empty() && !others.contains(value) && !replaced && !part)
          all.push_back({fmt::format("spec: {}", column.heading), shown_value(column, value), how});
      }
    };
    add(after, before, now, old, "new");
    add(before, after, old, now, "gone");
  }
  for (std::size_t g = 0; g < std::min(old.grids.size(), now.grids.size()); ++g)
    if (old.grids[g].excluded != now.grids[g].excluded)
      all.push_back({"spec: exclude", fmt::format("of grid {}", g + 1), "changed"});
  return all;
}

}  // namespace headroom::report
