#include "sweep/screen/estimate_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "model/checkpoint/text_only.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/words.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/gpus_needed.hpp"
#include "sweep/screen/advice_words.hpp"
#include "sweep/screen/speed_output.hpp"
#include "sweep/screen/traffic_output.hpp"
#include "sweep/screen/verdict_text.hpp"
#include "sweep/screen/watch.hpp"

namespace headroom::sweep {
namespace {

using model::Estimate;
using model::Explanation;

/// `text` behind a label of at most 9 characters, in lines that fit the screen.
std::string labelled(std::string_view label, std::string_view text) {
  constexpr std::size_t width = 10;
  std::string lines = wrapped(text, width, width);
  return lines.replace(0, label.size(), label);
}

std::string heads_words(const model::Model& m) {
  const model::ModelShape& shape = m.shape;
  if (shape.query_heads == 0) return "no attention heads";
  const bool latent = std::ranges::any_of(m.profile.caches, [](const model::CacheClass& each) {
    return each.kind == model::CacheKind::latent;
  });
  if (latent) return counted(shape.query_heads, "head") + " over one latent each token (MLA)";
  return fmt::format("{} query and {} KV heads of {}", shape.query_heads, shape.kv_heads,
                     shape.head_dim);
}

std::string header(const GivenScenario& given, const Explanation& explained) {
  const model::Model& m = *given.model;
  const model::ModelShape& shape = m.shape;
  std::string text =
      fmt::format("{} ({}), {} parameters", m.name, m.architecture, grouped(m.profile.parameters));
  if (m.profile.parameters_active != m.profile.parameters)
    text += fmt::format(", {} active{}", grouped(m.profile.parameters_active),
                        has_towers(m) ? " (without towers)" : "");
  text = labelled("Model", text);
  text += labelled("", fmt::format("hidden size {}, {}, {}, vocabulary {}, {}", shape.hidden_size,
                                   counted(shape.layers, "layer"), heads_words(m), shape.vocabulary,
                                   shape.positions > 0 ? counted(shape.positions, "position")
                                                       : "no limit on positions"));
  text += labelled("", "from " + m.source);
  text +=
      labelled("Machine", given.on_machine ? given.machine->name
                                           : "none given: memory only, no times and no verdict");
  for (const auto& line : explained.assumptions)
    if (given.on_machine || !line.starts_with("GPU budget")) text += labelled("Assumes", line);
  for (const auto& line : given.assumed) text += labelled("Assumes", line);
  for (const auto& line : explained.warnings) text += labelled("Warning", line);
  return text;
}

std::string device_lines(const Explanation& explained) {
  std::vector<std::vector<std::string>> rows;
  for (const auto& use : explained.devices)
    rows.push_back({use.name, use.layers, to_text(use.weights), to_text(use.kv_cache),
                    to_text(use.activations), to_text(use.overhead), to_text(use.total),
                    to_text(use.budget)});
  return aligned(
      {"device", "layers", "weights", "KV cache", "activations", "overhead", "total", "budget"},
      {false, true, true, true, true, true, true, true}, rows);
}

/// Without a machine: the terms on one card that has room for all, and what its host keeps.
std::string memory_lines(const std::vector<model::DeviceUse>& devices) {
  std::vector<std::string> header = {"memory"};
  for (const auto& use : devices)
    header.push_back(use.where == model::Where::card ? "card" : "host");
  std::vector<std::vector<std::string>> rows;
  for (const auto& [name, term] : {std::pair{"weights", &model::DeviceUse::weights},
                                   {"KV cache", &model::DeviceUse::kv_cache},
                                   {"activations", &model::DeviceUse::activations},
                                   {"overhead", &model::DeviceUse::overhead},
                                   {"total", &model::DeviceUse::total}}) {
    rows.push_back({name});
    for (const auto& use : devices) rows.back().push_back(to_text(use.*term));
  }
  std::vector<bool> right(header.size(), true);
  right.front() = false;
  return aligned(header, right, rows);
}

/// Each time with the interval of its own kind, as its term has it.
std::string time_lines(const Explanation& explained, const model::IntervalFactors& f) {
  const Estimate& e = explained.estimate;
  const model::TimeIntervals of = f.times(e);
  // The whole is as well known as the less known of its parts.
  const model::Interval& whole = of.ttft.measurements < of.tpot.measurements ? of.ttft : of.tpot;
  struct TimeRow {
    std::string_view term, words;
    const model::Interval& interval;
  };
  std::vector<std::vector<std::string>> rows;
  for (const TimeRow& row : {TimeRow{"load", "load from a cold disk", of.load},
                             {"load_warm", "load, files in page cache", of.load},
                             {"ttft", "time to first token", of.ttft},
                             {"tpot", "time per output token", of.tpot},
                             {"total", "whole answer", whole},
                             {"first_total", "first answer after loading", whole}})
    for (const model::Term& term : explained.terms)
      if (term.name == row.term && term.expected > 0 && term.expected < 1e300)
        rows.push_back({std::string(row.words), duration(term.expected), duration(term.low),
                        duration(term.high), measured_words(row.interval)});
  if (e.tokens_s > 0)
    rows.push_back({"tokens/s, all sequences", three_digits(e.tokens_s),
                    three_digits(e.tokens_s / of.tpot.high), three_digits(e.tokens_s / of.tpot.low),
                    measured_words(of.tpot)});
  return rows.empty() ? std::string()
                      : aligned({"time", "expected", "low", "high", "measured"},
                                {false, true, true, true, false}, rows);
}

std::string amount(const model::Term& term, double value) {
  return term.unit == model::TermUnit::bytes ? to_text(Bytes(static_cast<Size>(value)))
                                             : duration(value);
}

std::string term_lines(const GivenScenario& given, const Explanation& explained) {
  std::string text;
  for (const auto& term : explained.terms) {
    if (!given.on_machine && term.unit != model::TermUnit::bytes) continue;
    text += fmt::format("{}: {}", term.name, amount(term, term.expected));
    if (term.low != term.high)
      text += fmt::format(" ({} to {})", amount(term, term.low), amount(term, term.high));
    text += '\n' + wrapped("= " + term.formula, 4, 6);
    if (!term.numbers.empty()) text += wrapped("with " + term.numbers, 4, 6);
    text += wrapped("source: " + term.source, 4, 6);
  }
  return text;
}

}  // namespace

std::string_view memory_band(Bytes bytes) {
  const double gib = real_count(bytes) / GiB;
  if (gib < 4) return "below 4 GiB: reasonable on almost any card";
  if (gib < 8) return "4 to 8 GiB: moderate, watch the card's memory";
  if (gib < 12) return "8 to 12 GiB: high, consider a smaller batch or fewer bits";
  return "above 12 GiB: very high, needs a large card or several";
}

std::string estimate_text(const GivenScenario& given, const Explanation& explained,
                          const std::optional<model::Traffic>& serving, Terms terms) {
  const Estimate& e = explained.estimate;
  std::string text = header(given, explained) + '\n';
  if (given.on_machine) {
    text += labelled("Verdict", verdict_text(given.scenario, e));
    if (!explained.advice.empty()) text += labelled("Advice", advice_words(explained.advice));
    if (!explained.devices.empty()) text += '\n' + device_lines(explained);
    const auto times = time_lines(explained, model::interval_factors(given.scenario));
    if (!times.empty()) text += '\n' + times;
    if (serving) text += '\n' + traffic_lines(*serving, given.scenario, e, TrafficRows::all);
    if (!explained.notes.empty()) text += '\n';
    for (const auto& note : explained.notes) text += labelled("Note", note);
    if (e.verdict < model::Verdict::does_not_fit) {
      text += '\n';
      for (const auto& line : watch_lines(given.scenario, explained))
        text += labelled("Watch", line);
    }
  } else {
    text += memory_lines(explained.devices);
    text += fmt::format("\n{} to {} on one card; {}\n", to_text(e.gpu_bytes_low),
                        to_text(e.gpu_bytes_high), memory_band(e.gpu_bytes));
    const auto needed = gpus_needed_line(gpus_needed(given.scenario, shipped_catalogue()));
    if (!needed.empty()) text += needed + '\n';
  }
  if (terms == Terms::hidden) return text;
  if (given.on_machine) text += '\n' + speed_text(model::breakdown(given.scenario));
  text += (given.on_machine ? "" : "\n") + term_lines(given, explained);
  return text;
}

}  // namespace headroom::sweep
