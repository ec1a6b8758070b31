// Machine-readable output of accuracy.
#include <algorithm>
#include <boost/json.hpp>
#include <filesystem>
#include <map>

#include "sweep/accuracy/report.hpp"

namespace headroom::sweep {

namespace json = boost::json;

namespace {

json::object object_of(const GroupFigures& g) {
  return {{"group", g.name},
          {"n", g.n},
          {"median", g.median},
          {"p90", g.p90},
          {"bias", g.bias},
          {"coverage", g.coverage},
          {"interval_width", g.interval_width}};
}

}  // namespace

json::object accuracy_object(const Accuracy& accuracy) {
  json::array skipped, groups;
  for (const Unscored& each : accuracy.unscored)
    skipped.push_back(json::object{{"id", (*each.row)["id"]}, {"reason", each.reason}});
  for (const GroupFigures& g : accuracy.groups()) groups.push_back(object_of(g));
  for (const LabelFigures& g : accuracy.label_groups())
    groups.push_back(json::object{{"group", g.name},
                                  {"n", g.n},
                                  {"wrong_sure", g.wrong_sure},
                                  {"marginal", g.marginal},
                                  {"precision", g.precision},
                                  {"recall", g.recall}});
  json::object all = {{"rows", accuracy.rows.size()},
                      {"eligible", accuracy.eligible()},
                      {"scored", accuracy.scored()},
                      {"skipped", std::move(skipped)},
                      {"groups", std::move(groups)}};
  for (const LeftOut& each : accuracy.left_out) {
    json::array left_out;
    for (const GroupFigures& g : groups_of(each.scores)) left_out.push_back(object_of(g));
    all[each.column] = std::move(left_out);
  }
  return all;
}

report::Table accuracy_rows(const Accuracy& accuracy) {
  report::Table table{{"id", "file", "group", "runtime", "source", "grade", "measured", "expected",
                       "low", "high", "error", "plain", "reason"},
                      {}};
  const std::size_t own = table.names.size();
  std::map<const Measurement*, std::vector<report::Value>> without;
  for (const LeftOut& each : accuracy.left_out) {
    for (const Score& score : each.scores) {
      auto& cells = without[score.row];
      cells.resize(accuracy.left_out.size());
      cells[table.names.size() - own] = score.expected;
    }
    table.names.emplace_back(each.column);
  }
  const auto start = [&](const Measurement& row, std::string group, std::string runtime) {
    table.rows.push_back({row["id"], std::filesystem::path(row.file).filename().string(),
                          std::move(group), std::move(runtime), row["source"], row["grade"]});
  };
  const auto end = [&](std::initializer_list<report::Value> values) {
    table.rows.back().insert(table.rows.back().end(), values);
    table.rows.back().resize(table.names.size());
  };
  for (const Score& each : accuracy.scores) {
    start(*each.row, each.group, each.runtime);
    end({each.measured, each.expected, each.low, each.high, each.error(), each.plain,
         std::string()});
    if (const auto it = without.find(each.row); it != without.end())
      std::ranges::copy(it->second, table.rows.back().begin() + static_cast<std::ptrdiff_t>(own));
  }
  for (const Label& each : accuracy.labels) {
    start(*each.row, each.group, each.runtime);
    end({std::int64_t{each.fitted},
         std::int64_t{each.expected},
         {},
         {},
         {},
         each.load,
         std::string(each.sure ? "sure" : "marginal")});
  }
  for (const Unscored& each : accuracy.unscored) {
    start(*each.row, "", "");
    end({{}, {}, {}, {}, {}, {}, each.reason + (each.detail.empty() ? "" : ": ") + each.detail});
  }
  return table;
}

}  // namespace headroom::sweep
