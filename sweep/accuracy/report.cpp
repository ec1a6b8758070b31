#include "sweep/accuracy/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "hardware/quantity_text.hpp"
#include "sweep/answer_lines.hpp"
#include "sweep/output.hpp"
#include "sweep/screen_table.hpp"

namespace headroom::sweep {
namespace {

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

const std::vector<std::string> label_headings = {"group",    "n",         "clearly wrong",
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
  return std::filesystem::path(path).filename().string();
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
  switch (unit_of(score.group)) {
    case GroupUnit::bytes:
      return value < 1 << 20 ? three_digits(value) + " B" : to_text(Bytes(std::llround(value)));
    case GroupUnit::requests:
      return three_digits(value);
    default:
      return duration(value);
  }
}

std::string setup(const Measurement& row) {
  std::string text = row["model"] + ", " + row["precision"];
  if (!row["machine"].empty()) text += ", " + row["machine"];
  if (!row["batch"].empty() && row["batch"] != "1") text += ", batch " + row["batch"];
  if (!row["prompt_tokens"].empty())
    text += fmt::format(", {} + {} tokens", row["prompt_tokens"], row["output_tokens"]);
  if (!row["runtime"].empty()) text += ", " + row["runtime"];
  return text;
}

struct Members {
  std::string name;
  std::vector<const Score*> scores;
};
/// Rows of each group that has any. Partial offload also has a group of rows that state the host's
/// memory speed, because it limits their time.
std::vector<Members> parts_of(const std::vector<Score>& scores) {
  std::vector<Members> all;
  for (const std::string_view name : group_names()) {
    Members group{std::string(name), members_of(name, scores)};
    if (group.scores.empty()) continue;
    all.push_back(group);
    if (name != "offload_partial") continue;
    std::erase_if(group.scores,
                  [](const Score* each) { return !each->row->says("ram_gbs_stated"); });
    if (group.scores.empty()) continue;
    group.name += ", RAM stated";
    all.push_back(std::move(group));
  }
  return all;
}

Rows worst_rows(const Accuracy& accuracy) {
  constexpr std::size_t most = 8;
  Rows rows;
  for (const std::string_view group : group_names()) {
    std::vector<const Score*> members = members_of(group, accuracy.scores);
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
                      each.expected ? "fits" : "does not fit", each.sure ? "clear" : "marginal",
                      percent(each.load)});
  return rows;
}

/// Number of rows that are not scored, by reason and by `key` of them. Empty keys are left out.
template <class Key>
Rows unscored(const Accuracy& accuracy, Key key) {
  std::map<std::pair<std::string, std::string>, int> counts;
  for (const Unscored& each : accuracy.unscored)
    if (auto name = key(each); !name.empty()) ++counts[{each.reason, std::move(name)}];
  Rows rows;
  for (const auto& [name, n] : counts)
    rows.push_back({name.first, name.second, fmt::format("{}", n)});
  return rows;
}
Rows left_out(const Accuracy& accuracy) {
  return unscored(accuracy, [](const Unscored& each) { return file_name(each.row->file); });
}
Rows details(const Accuracy& accuracy) {
  return unscored(accuracy, [](const Unscored& each) { return each.detail; });
}

Rows group_rows(const Accuracy& accuracy) {
  Rows rows;
  for (const Members& group : parts_of(accuracy.scores))
    rows.push_back(cells(figures_of(group.name, group.scores)));
  return rows;
}

Rows label_rows(const Accuracy& accuracy) {
  Rows rows;
  for (const auto& group : accuracy.label_groups()) rows.push_back(cells(group));
  return rows;
}

Rows left_out_rows(const std::vector<Score>& left_out) {
  Rows rows;
  for (const Members& group : parts_of(left_out)) {
    rows.push_back(cells(figures_of(group.name, group.scores)));
    rows.back().resize(7);
  }
  return rows;
}

std::string totals(const Accuracy& accuracy) {
  return fmt::format("{} rows, {} eligible, {} scored", accuracy.rows.size(), accuracy.eligible(),
                     accuracy.scored());
}

}  // namespace

std::string accuracy_text(const Accuracy& accuracy, LeftOutRows unscored_rows) {
  const auto table = [](const std::vector<std::string>& headings, const Rows& rows) {
    std::vector<ScreenColumn> columns;
    for (std::size_t i = 0; i < headings.size(); ++i)
      columns.push_back(
          {headings[i], i > 0, i < 7 ? ScreenColumn::always : static_cast<int>(9 - i), {}});
    return screen_table(std::move(columns), rows);
  };
  const Rows unscored = left_out(accuracy);
  const bool by_reason = unscored_rows == LeftOutRows::by_reason;
  std::string text = totals(accuracy);
  if (!unscored.empty() && !by_reason) text += "; --details says why the others are not";
  text += "\n\n";
  if (const Rows rows = group_rows(accuracy); !rows.empty())
    text += table(group_headings, rows) + '\n';
  if (const Rows rows = label_rows(accuracy); !rows.empty())
    text += table(label_headings, rows) + '\n';
  if (unscored.empty() || !by_reason) return text;
  return text + aligned({"not scored because of", "file", "rows"}, {false, false, true}, unscored);
}

std::string accuracy_page(const Accuracy& accuracy) {
  std::string files;
  for (std::size_t i = 0; i < accuracy.rows.size(); ++i)
    if (i == 0 || accuracy.rows[i].file != accuracy.rows[i - 1].file)
      files += (files.empty() ? "" : ", ") + file_name(accuracy.rows[i].file);
  std::string text = fmt::format(
      "# Errors of estimates against measurements\n\n"
      "Written by `headroom accuracy FILE.csv… --format md` from {}: {}.\n\n"
      "An error is expected / measured - 1; a measured speed counts as a time. `90 %`: nine of ten "
      "rows have a smaller error. Coverage: share of rows inside the 80 % interval. Width: width "
      "of "
      "that interval, as a share of the estimate. Plain: a simple baseline. For times it is a "
      "roofline at the hardware's full rates with one efficiency fitted to these rows. For memory "
      "it "
      "is weights and KV cache alone, for sizes parameters times the bits in the recipe's name. "
      "RAM "
      "stated: rows that state the speed of the host's memory. Other rows have all channels of "
      "their "
      "processor at its maker's rate.\n\n",
      files, totals(accuracy));
  text += markdown(group_headings, group_rows(accuracy)) + '\n';
  auto left_out_headings = group_headings;
  left_out_headings.resize(7);
  for (const LeftOut& each : accuracy.left_out)
    text += fmt::format("{}:\n\n{}\n", each.words,
                        markdown(left_out_headings, left_out_rows(each.scores)));
  if (const Rows rows = label_rows(accuracy); !rows.empty())
    text +=
        "## Does it fit?\n\nPrecision and recall are of \"fits\"; `near`: memory needed is "
        "within 15 % of the available memory.\n\n" +
        markdown(label_headings, rows) + '\n';
  if (const Rows rows = wrong_labels(accuracy); !rows.empty())
    text += "Rows with a wrong expected answer:\n\n" +
            markdown({"row", "set-up", "happened", "expected", "answer", "share of memory"}, rows) +
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
  text += "## Rows left out\n\nNo reason depends on the size of an error.\n\n" +
          markdown({"reason", "file", "rows"}, left_out(accuracy)) + '\n' +
          markdown({"reason", "found", "rows"}, details(accuracy));
  return text;
}

}  // namespace headroom::sweep
