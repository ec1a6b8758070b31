#include "sweep/plan/runnable_rows.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/answer/narrow_formats.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/words.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/screen/screen_table.hpp"

namespace headroom::sweep {
namespace {

using namespace model;
using Row = RunnableRow;
using Line = RunnableLine;

std::string note_of_row(const Row& row) {
  std::string note = placement_note(
      row.estimate,
      {.tight = row.tight, .below_four_bits = is_below_four_bits(scheme(row.precision))});
  if (row.faster_on_fewer) note += note.empty() ? "faster on fewer" : ", faster on fewer";
  return note.empty() && row.model->encoder_decoder ? "encoder + decoder" : note;
}

/// True for two checkpoints or fine-tunes of one shape.
bool is_alike(const Row& a, const Row& b) {
  return a.precision == b.precision && a.engine == b.engine &&
         a.model->profile.parameters == b.model->profile.parameters &&
         a.estimate.gpu_bytes == b.estimate.gpu_bytes && a.estimate.ttft == b.estimate.ttft &&
         a.estimate.tpot == b.estimate.tpot;
}

}  // namespace

bool on_gpus(const Row& row) { return report::grade(row.estimate) == report::Grade::on_gpus; }

bool loses_more(const Row& row) {
  return is_below_four_bits(scheme(row.precision)) && row.precision != row.model->checkpoint_scheme;
}

report::Table runnable_table(const std::vector<Row>& rows, std::size_t most) {
  report::Table table{
      {"rank", "model", "parameters", "precision", "runtime", "download_bytes", "verdict", "sure",
       "gpu_bytes", "ttft_s", "tokens_s", "class", "qlora_bytes"},
      {}};
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const Row& row = rows[i];
    const Estimate& e = row.estimate;
    table.rows.push_back({static_cast<Size>(i) + 1, row.model->name, row.model->profile.parameters,
                          row.precision, std::string(row.engine->name), row.download.count(),
                          std::string(name_of(e.verdict)), std::string(name_of(e.sure)),
                          e.gpu_bytes.count(), e.ttft.value(), e.tokens_s,
                          std::string(report::speed_class(e)),
                          row.qlora ? report::Value(row.qlora->count()) : report::Value()});
  }
  return table;
}

std::vector<Line> runnable_lines(const std::vector<Row>& rows, std::size_t most) {
  std::vector<Line> lines;
  for (const Row& row : rows) {
    const auto same =
        std::ranges::find_if(lines, [&](const Line& line) { return is_alike(*line.row, row); });
    if (same != lines.end())
      ++same->alike;
    else if (lines.size() < most)
      lines.push_back({&row});
  }
  return lines;
}

std::string runnable_list(const std::vector<Line>& lines, const Machine& machine) {
  std::vector<ScreenColumn> columns;
  const auto add = [&](std::string heading, bool right, int importance, auto&& cell) {
    ScreenColumn& column = columns.emplace_back();
    column.heading = std::move(heading);
    column.right = right;
    column.importance = importance;
    for (const Line& line : lines) column.cells.push_back(cell(*line.row));
  };
  const auto of = [&](const Row& row) {
    return interval_factors(*row.engine, machine).times(row.estimate);
  };
  constexpr int always = ScreenColumn::always;
  add("model", false, always,
      [](const Row& row) { return std::string(short_model_name(row.model->name)); });
  for (std::size_t i = 0; i < lines.size(); ++i)
    if (lines[i].alike > 0) columns.back().cells[i] += fmt::format(" +{}", lines[i].alike);
  add("parameters", true, 4, [](const Row& row) {
    return three_digits(static_cast<double>(row.model->profile.parameters) / 1e9) + " B";
  });
  add("precision", false, always, [](const Row& row) { return row.precision; });
  add("engine", false, always, [](const Row& row) { return std::string(row.engine->name); });
  add("memory", true, 3, [](const Row& row) {
    const Estimate& e = row.estimate;
    return in_gib(e.gpus_used > 0 ? e.gpu_bytes : e.cpu_bytes) + " GiB";
  });
  add("first token", true, 2, [&](const Row& row) {
    return std::string(unmeasured_sign(of(row).ttft)) + duration(row.estimate.ttft.value());
  });
  add("tokens/s", true, always, [&](const Row& row) {
    return std::string(unmeasured_sign(of(row).tpot)) + three_digits(row.estimate.tokens_s);
  });
  add("", false, always, note_of_row);
  return screen_table(std::move(columns));
}

}  // namespace headroom::sweep
