#include "sweep/accuracy_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

using Rows = std::vector<std::vector<std::string>>;

const std::vector<std::string> group_headings = {
    "group", "n", "median", "90 %", "bias", "coverage", "width", "plain median", "plain 90 %"};

std::vector<std::string> cells(const GroupFigures& g) {
  return {g.name,
          fmt::format("{}", g.n),
          percent(g.median),
          percent(g.p90),
          signed_percent(g.bias),
          percent(g.coverage),
          percent(g.interval_width),
          percent(g.plain_median),
          percent(g.plain_p90)};
}

const std::vector<std::string> label_headings = {"group",    "n",         "wrong though sure",
                                                 "marginal", "precision", "recall"};

std::vector<std::string> cells(const LabelFigures& g) {
  return {g.name,
          fmt::format("{}", g.n),
          percent(g.wrong_sure),
          percent(g.marginal),
          percent(g.precision),
          percent(g.recall)};
}

std::string escaped(std::string text) {
  for (std::size_t i = 0; i < text.size(); ++i)
    if (text[i] == '|') text.replace(i++, 1, "\\|");
  return text;
}

std::string markdown(const std::vector<std::string>& headings, const Rows& rows) {
  const auto line = [](const std::vector<std::string>& fields) {
    std::string text = "|";
    for (const auto& field : fields) text += ' ' + escaped(field) + " |";
    return text + '\n';
  };
  std::string text = line(headings) + "|";
  for (std::size_t i = 0; i < headings.size(); ++i) text += i == 0 ? "---|" : "---:|";
  text += '\n';
  for (const auto& row : rows) text += line(row);
  return text;
}

std::string file_name(const std::string& path) {
  const auto slash = path.rfind('/');
  return slash == std::string::npos ? path : path.substr(slash + 1);
}

/// "github:QwenLM/Qwen3@7a2f61f:docs/…" is "QwenLM/Qwen3".
std::string short_source(std::string source) {
  if (source.starts_with("github:")) source.erase(0, 7);
  if (source.starts_with("https://")) source.erase(0, 8);
  if (source.starts_with("github.com/")) source.erase(0, 11);
  return source.substr(0, std::min(source.find_first_of("@: ("), source.size()));
}

template <class Key>
Rows by(const Accuracy& accuracy, Key key) {
  std::map<std::pair<std::string, std::string>, std::vector<const Score*>> parts;
  for (const Score& each : accuracy.scores) parts[{each.group, key(each)}].push_back(&each);
  Rows rows;
  for (const std::string_view group : group_names())
    for (const auto& [name, scores] : parts)
      if (name.first == group) {
        auto row = cells(figures_of(name.first, scores));
        row.insert(row.begin() + 1, name.second);
        row.resize(8);  // a plain efficiency fitted to a few rows says nothing
        rows.push_back(std::move(row));
      }
  return rows;
}

std::string shown(const Score& score, double value) {
  const bool bytes = score.group == "inference_memory" || score.group == "quantised_size";
  return bytes ? fmt::format("{:.2f} GiB", value / 1073741824.0) : duration(value);
}

std::string setup(const Measurement& row) {
  std::string text = row["model"] + ", " + (row["quant"].empty() ? row["precision"] : row["quant"]);
  if (!row["gpu"].empty()) text += fmt::format(", {} x {}", row["gpu_count"], row["gpu"]);
  if (!row["batch"].empty() && row["batch"] != "1") text += ", batch " + row["batch"];
  if (!row["prompt_len"].empty())
    text += fmt::format(", {} + {} tokens", row["prompt_len"], row["output_len"]);
  if (const auto engine = row.setting("framework")) text += ", " + *engine;
  return text;
}

Rows worst_rows(const Accuracy& accuracy) {
  constexpr std::size_t most = 8;
  Rows rows;
  for (const std::string_view group : group_names()) {
    std::vector<const Score*> members;
    for (const Score& each : accuracy.scores)
      if (each.group == group) members.push_back(&each);
    std::ranges::stable_sort(members, std::greater{}, [](const Score* each) {
      return std::abs(std::log(each->expected / each->measured));
    });
    members.resize(std::min(members.size(), most));
    for (const Score* each : members)
      rows.push_back({std::string(group), (*each->row)["id"], setup(*each->row),
                      shown(*each, each->measured), shown(*each, each->expected),
                      signed_percent(each->error())});
  }
  return rows;
}

Rows wrong_labels(const Accuracy& accuracy) {
  Rows rows;
  for (const Label& each : accuracy.labels)
    if (each.expected != each.fitted)
      rows.push_back({(*each.row)["id"], setup(*each.row), (*each.row)["outcome"],
                      each.expected ? "fits" : "does not fit", each.sure ? "sure" : "marginal",
                      percent(each.load)});
  return rows;
}

Rows left_out(const Accuracy& accuracy) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const Unscored& each : accuracy.unscored) ++counts[{each.reason, file_name(each.row->file)}];
  Rows rows;
  for (const auto& [key, n] : counts) rows.push_back({key.first, key.second, fmt::format("{}", n)});
  return rows;
}

Rows details(const Accuracy& accuracy) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const Unscored& each : accuracy.unscored)
    if (!each.detail.empty()) ++counts[{each.reason, each.detail}];
  Rows rows;
  for (const auto& [key, n] : counts) rows.push_back({key.first, key.second, fmt::format("{}", n)});
  return rows;
}

Rows group_rows(const Accuracy& accuracy) {
  Rows rows;
  for (const auto& group : accuracy.groups()) rows.push_back(cells(group));
  return rows;
}

Rows label_rows(const Accuracy& accuracy) {
  Rows rows;
  for (const auto& group : accuracy.label_groups()) rows.push_back(cells(group));
  return rows;
}

std::size_t scored(const Accuracy& accuracy) {
  return accuracy.scores.size() + accuracy.labels.size();
}

std::string totals(const Accuracy& accuracy) {
  return fmt::format("{} rows, {} eligible, {} scored", accuracy.rows.size(), accuracy.eligible(),
                     scored(accuracy));
}

}  // namespace

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
          {"scored", scored(accuracy)},
          {"skipped", std::move(skipped)},
          {"groups", std::move(groups)}};
}

report::Table accuracy_rows(const Accuracy& accuracy) {
  report::Table table{{"id", "file", "group", "runtime", "source", "grade", "measured", "expected",
                       "low", "high", "error", "plain", "reason"},
                      {}};
  const auto start = [&](const Measurement& row, std::string group, std::string runtime) {
    table.rows.push_back({row["id"], file_name(row.file), std::move(group), std::move(runtime),
                          row["source"], row["grade"]});
  };
  const auto end = [&](std::initializer_list<report::Value> values) {
    table.rows.back().insert(table.rows.back().end(), values);
  };
  for (const Score& each : accuracy.scores) {
    start(*each.row, each.group, each.runtime);
    end({each.measured, each.expected, each.low, each.high, each.error(), each.plain,
         std::string()});
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

std::string accuracy_text(const Accuracy& accuracy) {
  const auto right = [](std::size_t n) {
    std::vector<bool> all(n, true);
    all.front() = false;
    return all;
  };
  std::string text = totals(accuracy) + "\n\n";
  if (const Rows rows = group_rows(accuracy); !rows.empty())
    text += aligned(group_headings, right(group_headings.size()), rows) + '\n';
  if (const Rows rows = label_rows(accuracy); !rows.empty())
    text += aligned(label_headings, right(label_headings.size()), rows) + '\n';
  if (const Rows rows = left_out(accuracy); !rows.empty())
    text += aligned({"not scored because of", "file", "rows"}, {false, false, true}, rows);
  return text;
}

std::string accuracy_page(const Accuracy& accuracy) {
  std::string files;
  for (std::size_t i = 0; i < accuracy.rows.size(); ++i)
    if (i == 0 || accuracy.rows[i].file != accuracy.rows[i - 1].file)
      files += (files.empty() ? "" : ", ") + file_name(accuracy.rows[i].file);
  std::string text = fmt::format(
      "# How far estimates are from measurements\n\n"
      "Written by `headroom accuracy FILE.csv… --format md` from {}: {}.\n\n"
      "Errors are of expected / measured - 1, of times where a speed was measured. `90 %`: nine of "
      "ten rows are nearer than this. Coverage: share of rows inside the 80 % interval; width: of "
      "that interval, as a share of the estimate. Plain: a roofline at the hardware's full rates "
      "with one efficiency fitted to the same rows; weights and KV cache alone for memory; "
      "parameters times the bits in the recipe's name for sizes.\n\n",
      files, totals(accuracy));
  text += markdown(group_headings, group_rows(accuracy)) + '\n';
  if (const Rows rows = label_rows(accuracy); !rows.empty())
    text +=
        "## Does it fit?\n\nPrecision and recall are of \"fits\"; `near`: memory needed is "
        "within 15 % of the budget.\n\n" +
        markdown(label_headings, rows) + '\n';
  if (const Rows rows = wrong_labels(accuracy); !rows.empty())
    text += "Rows whose expected answer is not what happened:\n\n" +
            markdown({"row", "set-up", "happened", "expected", "answer", "of the budget"}, rows) +
            '\n';
  auto headings = group_headings;
  headings.insert(headings.begin() + 1, "source");
  headings.resize(8);
  text += "## By source\n\n" +
          markdown(
              headings,
              by(accuracy, [](const Score& each) { return short_source((*each.row)["source"]); })) +
          '\n';
  headings[1] = "engine";
  text += "## By engine\n\n" +
          markdown(headings, by(accuracy, [](const Score& each) { return each.runtime; })) + '\n';
  text +=
      "## Worst rows\n\n" +
      markdown({"group", "row", "set-up", "measured", "expected", "error"}, worst_rows(accuracy)) +
      '\n';
  text += "## What is left out\n\nNo reason depends on how large an error would be.\n\n" +
          markdown({"reason", "file", "rows"}, left_out(accuracy)) + '\n' +
          markdown({"reason", "what was found", "rows"}, details(accuracy));
  return text;
}

}  // namespace headroom::sweep
