// training.md, which is also a part of the page.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/document.hpp"
#include "report/format.hpp"
#include "report/training_points.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

constexpr std::string_view introduction =
    "Each model and method is shown at the point that fits and trains on most tokens per second. "
    "Where no time is known, it is the point with most tokens per step. Where none fits, it is the "
    "one that comes nearest. Memory is that of the fullest card at its peak, and its parts add up "
    "to the peak. {} has every point and every term.";

std::string number_or_dash(double value, DisplayUnit how) {
  return value > 0 && std::isfinite(value) ? shown(value, how) : std::string("–");
}

std::vector<BarPart> peak_bar(const model::Estimate& e, double widest) {
  std::vector<BarPart> bar;
  const auto parts = parts_of(e);
  for (std::size_t p = 0; p < parts.size(); ++p)
    if (parts[p] > Bytes(0))
      bar.push_back({p, static_cast<double>(parts[p].count()) / widest,
                     fmt::format("{} {}", peak_parts[p], gib(parts[p]))});
  return bar;
}

/// Names, verdict, peak, its bar, parts, speed, how many fit. `widest`: bytes of the longest bar.
std::vector<TableCell> training_cells(const Source& source, const TrainingLine& line,
                                      double widest) {
  const model::Estimate& e = line.estimate;
  const bool refused = e.verdict == model::Verdict::refused;
  const auto bytes = [&](Bytes b) {
    return refused ? std::string("–") : shown(static_cast<double>(b.count()), DisplayUnit::gib);
  };
  std::vector<TableCell> row = {line.model, line.method, varied_words(source, line),
                                training_verdict(line), bytes(e.gpu_bytes)};
  row.emplace_back().bar = peak_bar(e, widest);
  for (const Bytes part : parts_of(e)) row.emplace_back(bytes(part));
  row.emplace_back(number_or_dash(e.step.time.value(), DisplayUnit::seconds));
  row.emplace_back(number_or_dash(e.tokens_s, DisplayUnit::plain));
  row.emplace_back(number_or_dash(e.step.utilization, DisplayUnit::percent));
  row.emplace_back(fmt::format("{} of {}", line.fitting, line.points));
  return row;
}

std::vector<TableColumn> training_columns() {
  using enum TableColumn::Kind;
  std::vector<TableColumn> all = {{"model", row_name},    {"method"},      {"point"}, {"verdict"},
                                  {"peak (GiB)", number}, {"made of", bar}};
  for (const auto part : peak_parts) all.push_back({fmt::format("{} (GiB)", part), number});
  for (const auto* each : {"step (s)", "tokens/s", "MFU", "points that fit"})
    all.push_back({each, number});
  return all;
}

/// Lines of one machine and runtime, in the order of the spec.
std::vector<std::vector<const TrainingLine*>> by_place(const std::vector<TrainingLine>& lines) {
  std::vector<std::vector<const TrainingLine*>> places;
  for (const TrainingLine& line : lines) {
    auto at = std::ranges::find_if(places, [&](const auto& place) {
      return place.front()->machine == line.machine && place.front()->runtime == line.runtime;
    });
    if (at == places.end()) at = places.emplace(at);
    at->push_back(&line);
  }
  return places;
}

std::string place_words(const TrainingLine& line) {
  return fmt::format("{}, {}, cards of {}", line.machine, line.runtime,
                     gib(Bytes(line.gpu_memory)));
}

}  // namespace

Document training_document(const Source& source, const std::vector<TrainingLine>& lines) {
  Document page;
  page.paragraph(fmt::format(introduction, source.every_point))
      .add(BarKey{{peak_parts.begin(), peak_parts.end()}});
  for (const auto& place : by_place(lines)) {
    auto widest = static_cast<double>(place.front()->gpu_memory);
    for (const TrainingLine* line : place)
      widest = std::max(widest, static_cast<double>(line->estimate.gpu_bytes.count()));
    TableBlock table{training_columns(), {}, place_words(*place.front()), 2};
    for (const TrainingLine* line : place)
      table.rows.push_back(training_cells(source, *line, widest));
    page.add(std::move(table));
  }
  return page;
}

}  // namespace headroom::report
