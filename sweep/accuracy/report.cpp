#include "sweep/accuracy/report.hpp"

#include <fmt/format.h>

#include "sweep/accuracy/report_rows.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {

std::string accuracy_text(const Accuracy& accuracy, LeftOutRows unscored_rows) {
  const auto table = [](const std::vector<std::string>& headings, const Rows& rows) {
    std::vector<ScreenColumn> columns;
    for (std::size_t i = 0; i < headings.size(); ++i)
      columns.push_back(
          {headings[i], i > 0, i < 7 ? ScreenColumn::always : static_cast<int>(9 - i), {}});
    return screen_table(std::move(columns), rows);
  };
  const Rows unscored = unscored_by_file(accuracy);
  const bool by_reason = unscored_rows == LeftOutRows::by_reason;
  std::string text = totals(accuracy);
  if (!unscored.empty() && !by_reason) text += "; --details says why the others are not";
  text += "\n\n";
  Rows groups = group_rows(accuracy);
  // A screen has no room for parts of groups: "offload_partial, RAM stated".
  if (!by_reason)
    std::erase_if(groups, [](const auto& row) { return row[0].find(',') != std::string::npos; });
  if (!groups.empty()) text += table(group_headings, groups);
  if (const Rows rows = label_rows(accuracy); !rows.empty())
    text += '\n' + table(label_headings, rows);
  if (unscored.empty() || !by_reason) return text;
  return text + '\n' +
         aligned({"not scored because of", "file", "rows"}, {false, false, true}, unscored);
}

namespace {

/// Figures of each source, left out where they are known, and of each engine.
std::string by_parts(const Accuracy& accuracy) {
  auto headings = group_headings;
  headings.insert(headings.begin() + 1, "source");
  headings.resize(8);
  const std::vector<Score>& sources =
      accuracy.left_out.empty() ? accuracy.scores : accuracy.left_out.back().scores;
  std::string text = "## By source\n\n";
  if (!accuracy.left_out.empty())
    text += "Each source by constants that were fitted to all other sources.\n\n" +
            markdown({"group", "sources", "with half of their rows inside", "with all"},
                     covered_sources(sources)) +
            '\n';
  text += markdown(headings, by_source(sources)) + '\n';
  headings[1] = "engine";
  text += "## By engine\n\n" + markdown(headings, by_engine(accuracy.scores)) + '\n';
  return text;
}

}  // namespace

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
  text += by_parts(accuracy);
  text +=
      "## Worst rows\n\n" +
      markdown({"group", "row", "set-up", "measured", "expected", "error"}, worst_rows(accuracy)) +
      '\n';
  text += "## Rows left out\n\nNo reason depends on the size of an error.\n\n" +
          markdown({"reason", "file", "rows"}, unscored_by_file(accuracy)) + '\n' +
          markdown({"reason", "found", "rows"}, unscored_by_detail(accuracy));
  return text;
}

}  // namespace headroom::sweep
