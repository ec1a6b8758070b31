// Ways to run models in a diff: the best one of each model, and every answer that changed.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "report/diff.hpp"
#include "report/way_rows.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

using Name = std::tuple<std::string, std::string, std::string, std::string>;

/// The name of a machine of the earlier run in the later one.
const std::string& later_name(const Diff& diff, const std::string& machine) {
  const auto& replaced = diff.replaced();
  return replaced && machine == replaced->from ? replaced->to : machine;
}

/// A line by its name in the later run.
Name key_of(const ModelRow& line, const std::string& machine) {
  return {machine, line.runtime, line.model, line.precision};
}

/// The verdict as a decision: without the figures that move a little every night.
std::string decision(const ModelRow& line) {
  const model::Estimate& e = line.roomiest().estimate;
  if (grade(e) == Grade::cpu_offload) return "fits with CPU offload";
  if (grade(e) == Grade::disk_offload) return "CPU + disk offload, slow";
  if (grade(e) == Grade::does_not_fit)
    return fmt::format("does not fit: {}", reason_words(e.reason));
  return verdict_words(line, line.roomiest());
}

/// Why a line of both runs differs: its inputs, else what the spec asks for.
std::string cause_of(const Diff& diff, const ModelRow& before, const ModelRow& after) {
  const auto cause = diff.cause(before.roomiest().point, after.roomiest().point);
  return cause.empty() ? "spec" : cause;
}

/// Places of the differing ones in a list: the gravest change first, then the largest.
std::pair<WayChange, double> place_of(const BestWay& way, double threshold) {
  const WayChange change = change_of(way, threshold);
  return {change, change == WayChange::added || change == WayChange::removed
                      ? 0
                      : -std::abs(way.speed_change())};
}

}  // namespace

double BestWay::speed_change() const {
  if (!before || !after || !way_runs(*before) || !way_runs(*after)) return 0;
  const double was = before->roomiest().estimate.tokens_s;
  const double is = after->roomiest().estimate.tokens_s;
  return was > 0 && is > 0 ? is / was - 1 : 0;
}

WayChange change_of(const BestWay& way, double threshold) {
  if (!way.before) return WayChange::added;
  if (!way.after) return WayChange::removed;
  const auto was = rank_of(*way.before), is = rank_of(*way.after);
  if (was != is) return is > was ? WayChange::worse_verdict : WayChange::better_verdict;
  if (!way_runs(*way.after)) return WayChange::none;
  if (way.before->held != way.after->held || way.before->runtime != way.after->runtime ||
      way.before->roomiest().estimate.gpus_used != way.after->roomiest().estimate.gpus_used)
    return WayChange::other_way;
  return std::abs(way.speed_change()) > threshold ? WayChange::speed : WayChange::none;
}

std::vector<BestWay> best_ways(const Diff& diff) {
  std::vector<BestWay> all;
  std::map<std::pair<std::string, std::string>, std::size_t> known;
  for (const MachineLines& machine : by_machine(diff.after().shown))
    for (const auto& ways : machine.models) {
      const ModelRow& best = best_way(ways);
      known.emplace(std::pair(best.model, best.machine), all.size());
      all.push_back({best.model, best.machine, best.machine, nullptr, &best});
    }
  for (const MachineLines& machine : by_machine(diff.before().shown))
    for (const auto& ways : machine.models) {
      const ModelRow& best = best_way(ways);
      const auto at = known.find({best.model, later_name(diff, best.machine)});
      if (at == known.end()) {
        all.push_back({best.model, best.machine, best.machine, &best, nullptr, "spec"});
        continue;
      }
      BestWay& way = all[at->second];
      way.before = &best;
      way.machine_before = best.machine;
      if (change_of(way, diff.threshold()) != WayChange::none)
        way.cause = cause_of(diff, best, *way.after);
    }
  for (BestWay& way : all)
    if (!way.before) way.cause = "spec";
  std::ranges::stable_sort(all, {},
                           [&](const BestWay& way) { return place_of(way, diff.threshold()); });
  return all;
}

Table best_ways_table(const Diff& diff) {
  Table table{{"model", "machine", "machine_before", "precision_before", "runtime_before",
               "tokens_s_before", "verdict_before", "precision", "runtime", "tokens_s", "verdict",
               "change", "cause"},
              {}};
  static constexpr std::string_view words[] = {
      "worse verdict", "better verdict", "other way", "speed", "new", "gone"};
  for (const BestWay& way : best_ways(diff)) {
    const WayChange change = change_of(way, diff.threshold());
    if (change == WayChange::none) continue;
    auto& row = table.rows.emplace_back();
    row = {way.model, way.machine, way.machine_before};
    for (const ModelRow* each : {way.before, way.after}) {
      const bool is_run = each && way_runs(*each);
      const double tokens_s = is_run ? each->roomiest().estimate.tokens_s : 0;
      row.push_back(is_run ? Value(each->held) : Value());
      row.push_back(is_run ? Value(each->runtime) : Value());
      row.push_back(tokens_s > 0 ? Value(tokens_s) : Value());
      row.push_back(std::string(each ? rank_words(*each) : "not asked"));
    }
    row.push_back(std::string(words[static_cast<std::size_t>(change)]));
    row.push_back(way.cause);
  }
  return table;
}

Table decisions(const Diff& diff) {
  Table table{{"machine", "runtime", "model", "precision", "before", "after", "cause"}, {}};
  std::map<Name, const ModelRow*> before;
  for (const ModelRow* line : diff.before().shown)
    before.emplace(key_of(*line, later_name(diff, line->machine)), line);
  const auto add = [&](const ModelRow& line, std::string was, std::string is, std::string cause) {
    table.rows.push_back({line.machine, line.runtime, line.model, line.precision, std::move(was),
                          std::move(is), std::move(cause)});
  };
  std::vector<const ModelRow*> added;
  for (const ModelRow* line : diff.after().shown) {
    const auto was = before.find(key_of(*line, line->machine));
    if (was == before.end()) {
      added.push_back(line);
      continue;
    }
    const std::string earlier = decision(*was->second), later = decision(*line);
    if (earlier != later) add(*line, earlier, later, cause_of(diff, *was->second, *line));
    before.erase(was);
  }
  for (const ModelRow* line : added) add(*line, "not asked", decision(*line), "spec");
  for (const ModelRow* line : diff.before().shown)
    if (before.contains(key_of(*line, later_name(diff, line->machine))))
      add(*line, decision(*line), "not asked", "spec");
  return table;
}

}  // namespace headroom::report
