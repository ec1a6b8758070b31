// The assumptions of a run, and the intervals of its numbers.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "hardware/quantity_text.hpp"
#include "model/infer/intervals.hpp"
#include "report/document.hpp"
#include "report/reports.hpp"
#include "report/training_points.hpp"

namespace headroom::report {
namespace {

std::string end_percent(double factor) { return fmt::format("{:+.0f} %", (factor - 1) * 100); }

/// "-10 % to +12 % (34 measured rows)".
std::string interval_words(const model::Interval& of) {
  return fmt::format("{} to {} ({})", end_percent(of.low), end_percent(of.high),
                     of.measurements == 0 ? std::string("estimate without measurements")
                                          : counted(of.measurements, "measured row"));
}

/// The intervals of one engine with weights outside the cards: one for each kind of host.
std::string offload_words(const Source& source, std::string_view runtime) {
  std::vector<model::Interval> each;
  for (const ModelRow& line : source.lines) {
    const model::Interval& found = line.factors.offload;
    if (line.runtime == runtime &&
        std::ranges::find(each, found.low, &model::Interval::low) == each.end())
      each.push_back(found);
  }
  std::string text;
  for (const model::Interval& one : each)
    text += (text.empty() ? "" : " or ") + interval_words(one);
  return text + (each.size() > 1 ? ", by whether the host's memory is known" : "");
}

List axes_list(const RunInfo& info) {
  List list;
  for (std::size_t g = 0; g < info.grids.size(); ++g) {
    std::string varied, fixed;
    for (const Digit& digit : info.grids[g].digits)
      for (const Axis& axis : digit) {
        const Column* column = find_column(axis.column);
        if (!column || column->kind != ColumnKind::axis) continue;
        std::set<std::string> values;
        for (const AxisValue& v : axis.values) values.insert(text_of(&v));
        if (values.size() > 1) {
          varied +=
              fmt::format("{}{} ({})", varied.empty() ? "" : ", ", column->heading, values.size());
        } else if (const auto& value = *values.begin(); !value.empty()) {
          fixed += fmt::format("{}{} {}", fixed.empty() ? "" : ", ", column->heading, value);
        }
      }
    list.items.push_back({fmt::format(
        "Grid {} of {}: {}{}{}.", g + 1, counted(info.grids[g].points(), "point"),
        varied.empty() ? "nothing varies" : varied, fixed.empty() ? "" : "; fixed: ", fixed)});
  }
  return list;
}

}  // namespace

Document assumptions(const Source& source) {
  return Document()
      .add(axes_list(source.axes.info()))
      .paragraph(
          "GPU memory is all that a process uses on a card, as nvidia-smi would show it. "
          "Tables show GiB and milliseconds; CSV and the database have bytes and seconds.");
}

List models_list(const Source& source) {
  List list;
  for (const ModelOrigin& each : source.axes.info().models) {
    list.items.push_back({each.model + ": " + each.source});
    if (!each.doubt.empty()) list.items.back().nested.push_back("Warning: " + each.doubt);
  }
  return list;
}

List serving_tolerance(const Source& source) {
  List list;
  std::set<std::string> seen;
  for (const ModelRow& line : source.lines)
    if (const auto& f = line.factors; seen.insert(line.runtime).second)
      list.items.push_back({fmt::format(
          "{}, under load: first token {}, time per token {}, time of so many requests {}",
          line.runtime, interval_words(f.serving_ttft), interval_words(f.serving_tpot),
          interval_words(f.serving_rate))});
  return list;
}

Document tolerance(const Source& source) {
  List list;
  std::set<std::string> seen;
  const auto with_source = [](std::string words, std::string_view origin) {
    return origin.empty() ? words : fmt::format("{}; {}", words, origin);
  };
  for (const ModelRow& line : source.lines) {
    const auto& f = line.factors;
    if (!seen.insert(line.runtime).second) continue;
    list.items.push_back({with_source(
        fmt::format("{}: GPU memory {}, first token {}, time per token {}, both with weights "
                    "outside the cards {}, load {}",
                    line.runtime, interval_words(f.memory), interval_words(f.ttft),
                    interval_words(f.tpot), offload_words(source, line.runtime),
                    interval_words(f.load)),
        f.source)});
    if (f.memory.measurements == 0)
      list.items.back().nested.emplace_back(
          "No measured row stands behind its memory: the interval is wider than any engine's.");
  }
  for (const TrainingLine& line : training_lines(source)) {
    if (!seen.insert(line.runtime + ", training").second) continue;
    const auto f = source.axes.factors(line.point);
    list.items.push_back(
        {with_source(fmt::format("{}, training: GPU memory {}, time of a step {}", line.runtime,
                                 interval_words(f.memory), interval_words(f.tpot)),
                     f.source)});
  }
  return Document()
      .paragraph(
          "80 % intervals around the expected values, by engine. Times are wider on cards "
          "that the engine was not measured on with such weights:")
      .add(std::move(list));
}

}  // namespace headroom::report
