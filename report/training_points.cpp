#include "report/training_points.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>

#include "model/infer/scenario/verdict.hpp"
#include "model/train/training.hpp"
#include "report/format.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

using model::Estimate;

/// The key that points are compared by: fits, speed or tokens per step, memory left. Larger is
/// better.
std::tuple<int, double, double, double> rank_of(const Axes& axes, Size point, const Estimate& e) {
  const double tokens = number_of(axes.value("batch", point), 1) *
                        number_of(axes.value("sequence", point), 1) *
                        number_of(axes.value("accumulated", point), 1) * e.gpus_used;
  const auto used = static_cast<double>(e.gpu_bytes.count());
  if (fits(e)) return {2, e.tokens_s, tokens, -used};
  const bool refused = e.verdict == model::Verdict::refused;
  return {refused ? 0 : 1, 0, 0, -static_cast<double>(e.short_bytes.count())};
}

std::string method_of(const Axes& axes, Size point) {
  std::string method = text_of(axes.value("adapters", point));
  if (const auto rank = text_of(axes.value("rank", point)); !rank.empty()) method += " " + rank;
  if (const auto targets = text_of(axes.value("targets", point));
      !targets.empty() && targets != "usual")
    method += ", " + targets;
  return method;
}

}  // namespace

std::vector<TrainingLine> training_lines(const Source& source) {
  const Axes& axes = source.axes;
  std::vector<bool> trains;
  for (std::size_t g = 0; g < axes.info().grids.size(); ++g)
    trains.push_back(text_of(axes.value("task", axes.first_point(g))) == "training");
  std::vector<TrainingLine> lines;
  if (std::ranges::find(trains, true) == trains.end()) return lines;
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::size_t> known;
  for_each_of(source, trains, [&](Size point, const Estimate& e) {
    const auto text = [&](std::string_view column) { return text_of(axes.value(column, point)); };
    const std::tuple name{text("machine"), text("runtime"), text("model"), method_of(axes, point)};
    const auto [at, added] = known.try_emplace(name, lines.size());
    if (added)
      lines.push_back(
          {.point = point,
           .machine = std::get<0>(name),
           .runtime = std::get<1>(name),
           .model = std::get<2>(name),
           .method = std::get<3>(name),
           .gpu_memory = static_cast<Size>(number_of(axes.value("gpu_memory_bytes", point), 0)),
           .estimate = e});
    TrainingLine& line = lines[at->second];
    ++line.points;
    line.fitting += fits(e);
    if (rank_of(axes, point, e) > rank_of(axes, line.point, line.estimate)) {
      line.point = point;
      line.estimate = e;
    }
  });
  return lines;
}

std::array<Bytes, peak_parts.size()> parts_of(const Estimate& e) {
  const auto moment = static_cast<model::Peak>(e.step.moment);
  const Bytes none;
  const bool stepping = moment == model::Peak::step || moment == model::Peak::sum;
  std::array<Bytes, peak_parts.size()> parts = {
      e.weights,     e.step.master, e.step.gradients_alive ? e.step.gradients : none,
      e.step.states, none,          none,
      none,          none,          stepping ? e.step.stepping : none,
      e.overhead};
  Bytes left = e.gpu_bytes;
  for (const Bytes part : parts) left = left > part ? left - part : none;
  const auto take = [&](std::size_t part, Bytes most) {
    parts[part] = std::min(left, most);
    left = left - parts[part];
  };
  take(5, e.step.loss);
  take(7, e.step.exchanged);
  if (moment == model::Peak::backward) take(6, e.step.working);
  if (moment != model::Peak::step && moment != model::Peak::load) take(4, e.activations);
  parts[6] += left;
  return parts;
}

std::string varied_words(const Source& source, const TrainingLine& line) {
  const std::set<std::string_view> names = {"machine", "runtime", "model", "adapters",
                                            "rank",    "targets", "task"};
  const RunInfo& info = source.axes.info();
  std::string words;
  for (const Column* column : columns_of(info)) {
    if (column->kind != ColumnKind::axis || names.contains(column->name)) continue;
    std::set<std::string> seen;
    for (const GridShape& grid : info.grids)
      for (const Digit& digit : grid.digits)
        for (const Axis& axis : digit)
          if (axis.column == column->name)
            for (const AxisValue& value : axis.values) seen.insert(text_of(&value));
    const auto value = text_of(source.axes.value(column->name, line.point));
    if (seen.size() < 2 || value.empty()) continue;
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", column->heading, value);
  }
  return words;
}

std::string training_verdict(const TrainingLine& line) {
  const Estimate& e = line.estimate;
  if (e.verdict == model::Verdict::refused)
    return fmt::format("refused: {}", reason_words(e.reason));
  std::string words;
  if (e.verdict == model::Verdict::does_not_fit)
    words = fmt::format("does not fit: {} short", gib(e.short_bytes));
  else if (e.gpus_used == 1)
    words = "fits on 1 GPU";
  else
    words = fmt::format("fits on {} GPUs", e.gpus_used);
  if (e.verdict == model::Verdict::fits_cpu_offload)
    words += fmt::format(" with {} of RAM", gib(e.cpu_bytes));
  if (e.verdict == model::Verdict::fits_disk_offload)
    words += fmt::format(" with {} of disk", gib(e.disk_bytes));
  return e.sure == model::Confidence::marginal ? words + ", not sure" : words;
}

}  // namespace headroom::report
