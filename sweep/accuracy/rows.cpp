// What programs read of an accuracy.
#include <filesystem>
#include <map>

#include "sweep/accuracy/report.hpp"

namespace headroom::sweep {

namespace json = boost::json;

json::object accuracy_object(const Accuracy& accuracy) {
  json::array skipped, groups;
  for (const Unscored& each : accuracy.unscored)
    skipped.push_back(json::object{{"id", (*each.row)["id"]}, {"reason", each.reason}});
  for (const GroupFigures& g : accuracy.groups())
    groups.push_back(json::object{{"group", g.name},
                                  {"n", g.n},
                                  {"median", g.median},
                                  {"p90", g.p90},
                                  {"bias", g.bias},
                                  {"coverage", g.coverage},
                                  {"interval_width", g.interval_width}});
  for (const LabelFigures& g : accuracy.label_groups())
    groups.push_back(json::object{{"group", g.name},
                                  {"n", g.n},
                                  {"wrong_sure", g.wrong_sure},
                                  {"marginal", g.marginal},
                                  {"precision", g.precision},
                                  {"recall", g.recall}});
  return {{"rows", accuracy.rows.size()},
          {"eligible", accuracy.eligible()},
          {"scored", accuracy.scored()},
          {"skipped", std::move(skipped)},
          {"groups", std::move(groups)}};
}

report::Table accuracy_rows(const Accuracy& accuracy) {
  report::Table table{
      {"id", "file", "group", "runtime", "source", "grade", "measured", "expected", "low", "high",
       "error", "plain", "reason", "without_source", "without_model"},
      {}};
  std::map<const Measurement*, double> without_source, without_model;
  for (const Score& each : accuracy.left_out) without_source[each.row] = each.expected;
  for (const Score& each : accuracy.left_out_models) without_model[each.row] = each.expected;
  const bool left_out = !without_source.empty() || !without_model.empty();
  if (!left_out) table.names.resize(table.names.size() - 2);
  const auto of = [](const auto& all, const Measurement* row) {
    const auto it = all.find(row);
    return it == all.end() ? report::Value() : report::Value(it->second);
  };
  const auto start = [&](const Measurement& row, std::string group, std::string runtime) {
    table.rows.push_back({row["id"], std::filesystem::path(row.file).filename().string(),
                          std::move(group), std::move(runtime), row["source"], row["grade"]});
  };
  const auto end = [&](std::initializer_list<report::Value> values) {
    table.rows.back().insert(table.rows.back().end(), values);
    if (left_out) table.rows.back().resize(table.names.size());
  };
  for (const Score& each : accuracy.scores) {
    start(*each.row, each.group, each.runtime);
    end({each.measured, each.expected, each.low, each.high, each.error(), each.plain,
         std::string()});
    if (!left_out) continue;
    table.rows.back()[13] = of(without_source, each.row);
    table.rows.back()[14] = of(without_model, each.row);
  }
  for (const Label& each : accuracy.labels) {
    start(*each.row, "fit_verdict", each.runtime);
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
