#include "report/open_metrics.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "report/diff.hpp"
#include "report/table.hpp"
#include "report/way_rows.hpp"

namespace headroom::report {
namespace {

using model::WayRank;

struct Metric {
  std::string_view name, unit, help;  ///< the name ends in the unit, where it has one
  std::string_view column;            ///< the figure's column; empty: `holds` decides
  bool (*holds)(const ModelRow&) = nullptr;
};
constexpr Metric metrics[] = {
    {"headroom_fits",
     "",
     "1 if the best way keeps all weights on cards even at the high end of its memory interval. "
     "0 if it does not.",
     {},
     [](const ModelRow& row) { return rank_of(row) == WayRank::on_cards; }},
    {"headroom_runs",
     "",
     "1 if the model runs there, also with weights outside the cards or in tight memory. 0 if not.",
     {},
     way_runs},
    {"headroom_output_tokens_per_second", "tokens_per_second",
     "Output tokens per second of all sequences together, after the first token.", "tokens_s"},
    {"headroom_ttft_seconds", "seconds", "Time to the first token.", "ttft_s"},
    {"headroom_tpot_seconds", "seconds", "Time per output token after the first.", "tpot_s"},
    {"headroom_load_seconds", "seconds", "Time to load the model.", "load_s"},
    {"headroom_gpu_memory_bytes", "bytes",
     "Memory in use on the most loaded card, as nvidia-smi would show it.", "gpu_bytes"},
    {"headroom_gpus_used", "", "Cards that hold layers.", "gpus_used"},
    {"headroom_cost_per_million_output_tokens", "",
     "Money for a million output tokens, the machine come by in the cheapest way. "
     "The label currency has its unit.",
     "best_cost_per_million"},
};

/// A label's value, escaped as the specification has it.
std::string escaped(std::string_view text) {
  std::string all;
  for (const char c : text) {
    if (c == '\\' || c == '"') all += '\\';
    if (c == '\n')
      all += "\\n";
    else
      all += c;
  }
  return all;
}

std::string described(std::string_view name, std::string_view unit, std::string_view help) {
  std::string all = fmt::format("# TYPE {} gauge\n", name);
  if (!unit.empty()) all += fmt::format("# UNIT {} {}\n", name, unit);
  return all + fmt::format("# HELP {} {}\n", name, help);
}

const Column& column_named(std::string_view name) {
  if (const Column* column = find_column(name)) return *column;
  for (const Column& column : best_way_columns())
    if (column.name == name) return column;
  throw std::logic_error(fmt::format("no column {}", name));
}

/// As text; empty where the way has no such figure.
std::string value_at(const Source& source, const ModelRow& row, const Metric& metric) {
  if (metric.holds) return metric.holds(row) ? "1" : "0";
  if (!way_runs(row)) return {};
  const Column& column = column_named(metric.column);
  const Cell cell = column.kind == ColumnKind::derived
                        ? best_way_value(source, &row, column)
                        : value_of(column, row.roomiest().estimate, row.factors);
  return text(owned(cell));
}

std::string labels_of(const Source& source, const ModelRow& row, const Metric& metric) {
  std::string all =
      fmt::format(R"(model="{}",machine="{}",precision="{}",runtime="{}")", escaped(row.model),
                  escaped(row.machine), way_runs(row) ? escaped(row.held) : "",
                  way_runs(row) ? escaped(row.runtime) : "");
  if (metric.column == "best_cost_per_million")
    all += fmt::format(R"(,currency="{}")",
                       escaped(text_of(source.axes.value("currency", row.roomiest().point))));
  return all;
}

/// Seconds since 1970 of "2026-11-27T07:00:00Z".
Size timestamp(const std::string& finished) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (std::sscanf(finished.c_str(), "%d-%d-%dT%d:%d:%dZ", &year, &month, &day, &hour, &minute,
                  &second) != 6)
    throw std::logic_error("a time that is none: " + finished);
  using namespace std::chrono;
  const sys_days date = std::chrono::year(year) / month / day;
  return (date + hours(hour) + minutes(minute) + seconds(second)).time_since_epoch() / seconds(1);
}

}  // namespace

void write_open_metrics(std::ostream& out, const Source& source) {
  std::vector<const ModelRow*> best;
  for (const MachineLines& machine : by_machine(source.shown))
    for (const auto& ways : machine.models) best.push_back(&best_way(ways));
  out << described("headroom_run_finished_timestamp_seconds", "seconds",
                   "When the run ended, in Unix time.")
      << fmt::format("headroom_run_finished_timestamp_seconds{{run=\"{}\"}} {}\n",
                     escaped(source.run.name), timestamp(source.run.finished));
  for (const Metric& metric : metrics) {
    std::string samples;
    for (const ModelRow* row : best)
      if (const auto value = value_at(source, *row, metric); !value.empty())
        samples +=
            fmt::format("{}{{{}}} {}\n", metric.name, labels_of(source, *row, metric), value);
    if (!samples.empty()) out << described(metric.name, metric.unit, metric.help) << samples;
  }
  out << "# EOF\n";
}

}  // namespace headroom::report
