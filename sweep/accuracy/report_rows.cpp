#include "sweep/accuracy/report_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>

#include "hardware/quantity_text.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {

const std::vector<std::string> group_headings = {
    "group", "n", "median", "90 %", "bias", "coverage", "width", "plain median", "plain 90 %"};

const std::vector<std::string> label_headings = {"group",    "n",         "clearly wrong",
                                                 "marginal", "precision", "recall"};

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

namespace {

std::string percent(double share) { return fmt::format("{:.1f} %", 100 * share); }
std::string signed_percent(double share) { return fmt::format("{:+.1f} %", 100 * share); }

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

template <class Key>
Rows by(const std::vector<Score>& of, Key key) {
  std::map<std::pair<std::string, std::string>, std::vector<const Score*>> parts;
  for (const Score& each : of) parts[{each.group, key(each)}].push_back(&each);
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
    case GroupUnit::tokens:
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

}  // namespace

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

Rows covered_sources(const std::vector<Score>& scores) {
  Rows rows;
  for (const std::string_view group : group_names()) {
    std::map<std::string, std::vector<const Score*>> sources;
    for (const Score* each : members_of(group, scores))
      sources[short_source((*each->row)["source"])].push_back(each);
    if (sources.empty()) continue;
    const auto with = [&](double least) {
      const auto n = std::ranges::count_if(sources, [&](const auto& source) {
        return figures_of("", source.second).coverage >= least;
      });
      return percent(static_cast<double>(n) / static_cast<double>(sources.size()));
    };
    rows.push_back({std::string(group), fmt::format("{}", sources.size()), with(0.5), with(1.0)});
  }
  return rows;
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

Rows by_source(const std::vector<Score>& scores) {
  return by(scores, [](const Score& each) { return short_source((*each.row)["source"]); });
}
Rows by_engine(const std::vector<Score>& scores) {
  return by(scores, [](const Score& each) { return each.runtime; });
}

Rows unscored_by_file(const Accuracy& accuracy) {
  return unscored(accuracy, [](const Unscored& each) { return file_name(each.row->file); });
}
Rows unscored_by_detail(const Accuracy& accuracy) {
  return unscored(accuracy, [](const Unscored& each) { return each.detail; });
}

std::string totals(const Accuracy& accuracy) {
  return fmt::format("{} rows, {} eligible, {} scored", accuracy.rows.size(), accuracy.eligible(),
                     accuracy.scored());
}

}  // namespace headroom::sweep
