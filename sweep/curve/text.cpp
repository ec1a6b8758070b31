// Curves for a reader: a table of points, a plot in characters, and what follows from it.
#include <fmt/format.h>

#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "report/chart.hpp"
#include "report/text_plot.hpp"
#include "report/words.hpp"
#include "sweep/curve/curve.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

using namespace model;

constexpr std::size_t max_rows = 24;

std::string amount(Bytes bytes) { return bytes == Bytes(0) ? "0" : to_text(bytes); }
std::string signed_digits(double value) { return (value < 0 ? "" : "+") + two_digits(value); }

/// The points that a table shows: all of a few; else those where something happens, and as many of
/// the others, evenly spread.
std::vector<std::size_t> shown_points(const CurveLine& line) {
  const std::size_t size = line.points.size();
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < size; ++i) {
    const bool first_or_last = i == 0 || i + 1 == size;
    const bool found = !line.points[i].jumps.empty() || line.first == i || line.diminished == i ||
                       line.recommended == i || (line.drawn.knee && line.drawn.knee->index == i);
    const bool spread = size <= max_rows || i * max_rows / size != (i - 1) * max_rows / size;
    if (first_or_last || found || spread) all.push_back(i);
  }
  return all;
}

std::string layer_counts(const AllocationPoint& p) {
  const Estimate& e = p.estimate;
  return fmt::format("{} / {} / {}{}", e.layers_gpu, e.layers_cpu, e.layers_disk,
                     p.plan.host_experts.size() > 0
                         ? fmt::format(", experts of {} on CPU", p.plan.host_experts.size())
                         : std::string());
}

std::string table(const CurveLine& line) {
  std::vector<std::vector<std::string>> rows;
  for (const std::size_t i : shown_points(line)) {
    const AllocationPoint& p = line.points[i];
    const Estimate& e = p.estimate;
    if (!runs(p)) {
      rows.push_back({amount(p.allocation),
                      e.verdict == Verdict::refused ? "refused" : "out of memory", "", "", "", "",
                      "", "", "", "", why_not_words(e)});
      continue;
    }
    const auto speed = report::band(line.drawn.points[i], &report::CurvePoint::tokens_s);
    const auto load = report::band(line.drawn.points[i], &report::CurvePoint::load_s);
    std::string happens = jump_words(line, i);
    if (line.recommended == i) happens += happens.empty() ? "recommended" : "; recommended";
    rows.push_back({amount(p.allocation), amount(e.gpu_bytes), layer_counts(p),
                    duration(e.load.value()),
                    fmt::format("{} to {}", duration(load.first), duration(load.second)),
                    duration(e.ttft.value()), three_digits(e.tokens_s),
                    fmt::format("{} to {}", three_digits(speed.first), three_digits(speed.second)),
                    duration(e.total.value()), p.gain ? signed_digits(*p.gain) : "", happens});
  }
  std::string text =
      aligned({"allocation", "expected use", "GPU/CPU/disk", "load", "80 % of it", "first token",
               "tokens/s", "80 % of it", "total", "gain/GiB", "change"},
              {true, true, true, true, true, true, true, true, true, true, false}, rows);
  if (rows.size() < line.points.size())
    text += fmt::format("{} of {} points; --format csv has them all\n", rows.size(),
                        line.points.size());
  return text;
}

/// Facts about the two ends of the curve's memory.
std::string limits(const CurveLine& line, Size gpus) {
  const std::string each = gpus > 1 ? " on each GPU" : "";
  std::string text;
  if (line.first && *line.first > 0)
    text += fmt::format("Out of memory   below {}{}\n",
                        to_text(line.points[*line.first].allocation), each);
  const AllocationPoint& last = line.points.back();
  if (line.scenario.runtime->offload.mode != Offload::stream || !runs(last) || last.plan.cards == 0)
    return text;
  return text + fmt::format(
                    "{}max_memory above {}{}: the rest of the card is taken by context, "
                    "caches and activations\n",
                    text.empty() ? "Out of memory   " : "                ",
                    to_text(last.estimate.max_memory), each);
}

std::string point_words(const CurveLine& line, std::size_t i) {
  return fmt::format("{}: {} tokens/s", amount(line.points[i].allocation),
                     three_digits(line.points[i].estimate.tokens_s));
}

std::string findings(const CurveLine& line, Size gpus) {
  std::string text = limits(line, gpus);
  const auto say = [&](std::string_view name, const std::string& what) {
    text += fmt::format("{:<15} {}\n", name, what);
  };
  if (const auto& knee = line.drawn.knee)
    say("Knee",
        fmt::format("{} ({} tokens/s a GiB up to it, {} beyond)", point_words(line, knee->index),
                    signed_digits(knee->marginal_before), signed_digits(knee->marginal_after)));
  else if (line.first)
    say("Knee", "none: the last GiB still helps");
  if (line.diminished)
    say("Diminishing", *line.diminished + 1 == line.points.size()
                           ? "nowhere: every GiB up to the last adds over 1 % of the best speed"
                           : fmt::format("from {} a further GiB adds at most 1 % of the best speed",
                                         amount(line.points[*line.diminished].allocation)));
  for (const auto& mark : line.drawn.marks) {
    const std::size_t i = mark.index;
    const double before = i > 0 ? line.points[i - 1].estimate.tokens_s : 0;
    say("Jump",
        fmt::format("{} at {}{} tokens/s", mark.text, to_text(line.points[i].allocation) + ": ",
                    three_digits(line.points[i].estimate.tokens_s)) +
            (before > 0 ? fmt::format(", {} before", three_digits(before)) : ""));
  }
  say("Recommended",
      line.recommended ? fmt::format("{}{}, {}", amount(line.points[*line.recommended].allocation),
                                     gpus > 1 ? " on each GPU" : "", line.reason)
                       : "none, " + line.reason);
  return text;
}

}  // namespace

std::string curve_text(const GivenScenario& given, const std::vector<CurveLine>& lines) {
  const Scenario& s = given.scenario;
  std::string text = fmt::format("Model     {} ({}), {}\nMachine   {}\n", given.model->name,
                                 given.model->architecture,
                                 counted(given.model->shape.layers, "layer"), given.machine->name);
  text += fmt::format(
      "Assumes   batch {}, prompt {} tokens, output {} tokens, context {} tokens a "
      "sequence, KV cache in {}\n",
      s.batch, s.prompt_tokens, s.output_tokens, s.cached_tokens(),
      model::cache_precision(s).name());
  if (s.machine->host_assumed && !s.machine->host_for_cards)
    text +=
        fmt::format("Assumes   host {} (the default, as none was given)\n", s.machine->host.name);
  for (const auto& line : given.assumed) text += "Assumes   " + line + '\n';
  const auto gpus = static_cast<Size>(given.machine->devices.size());
  bool any = false;
  for (const CurveLine& line : lines) {
    const IntervalFactors f = interval_factors(line.scenario);
    text += fmt::format(
        "\n{}: weights {}; 80 % intervals: memory from {} measured rows, tokens/s from {} (all "
        "weights on cards) and {} (some elsewhere), load from {}\n\n",
        line.label, to_text(line.scenario.weights->total), f.memory.measurements,
        f.tpot.measurements, f.offload.measurements, f.load.measurements);
    text += table(line) + '\n' + findings(line, gpus);
    any = any || line.first.has_value();
  }
  return any ? text + '\n' + report::text_plot(figure_of(given, lines)) : text;
}

}  // namespace headroom::sweep
