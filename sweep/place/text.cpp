// An answer of `headroom place` for a reader:
//
//   speed-optimised (all of each budget): load 39.1 s, first token …, 0.0631 tokens/s: very slow
//       device          layers       weights   …   total   budget
//       gpu 0: …        layers 0-5 …
//       max_memory={0: "6543MiB", "cpu": "29000MiB"}
#include <fmt/format.h>

#include "hardware/quantity_text.hpp"
#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/words.hpp"
#include "sweep/output.hpp"
#include "sweep/place/answer.hpp"
#include "sweep/place/place.hpp"

namespace headroom::sweep {
namespace {

using namespace model;

std::string outcome(const Estimate& e) {
  if (!(e.tokens_s > 0))
    return fmt::format("load {}, {} a prompt", duration(e.load.value()), duration(e.ttft.value()));
  return fmt::format("load {}, first token {}, {} tokens/s: {}", duration(e.load.value()),
                     duration(e.ttft.value()), three_digits(e.tokens_s), report::speed_class(e));
}

/// The devices of one strategy, a bar each.
std::string device_rows(const Explanation& explained) {
  std::vector<std::vector<std::string>> rows;
  std::string long_lists;  // below the table, which would become too wide
  for (const DeviceUse& use : explained.devices) {
    const bool is_long = use.layers.size() > 28;
    if (is_long)
      long_lists +=
          fmt::format("    {}: layers {}\n", use.name.substr(0, use.name.find(':')), use.layers);
    rows.push_back({"   ", use.name,
                    !use.layers.empty()      ? is_long ? "below" : "layers " + use.layers
                    : use.weights > Bytes(0) ? "no whole layer"
                                             : "none",
                    to_text(use.weights), to_text(use.kv_cache), to_text(use.activations),
                    to_text(use.total), to_text(use.budget),
                    bar(use.total.real().value(), use.budget.real().value())});
  }
  return aligned(
             {"", "device", "layers", "weights", "KV cache", "activations", "total", "budget", ""},
             {false, false, false, true, true, true, true, true, false}, rows) +
         long_lists;
}

std::string block(const Answer& answer, const Strategy& s) {
  const Estimate& e = s.explained.estimate;
  if (!s.feasible)
    return fmt::format("{} ({}): not feasible, {}\n\n", s.name, s.meaning, needs(answer, s));
  std::string text = fmt::format("{} ({}): {}{}\n", s.name, s.meaning, outcome(e),
                                 model::is_at_limit(*s.scenario.runtime, e)
                                     ? "; tight: the interval reaches over the limit"
                                     : "");
  text += device_rows(s.explained);
  const bool best = s.name == answer.strategies.back().name && !answer.best_note.empty();
  if (best)
    text += fmt::format("    {}\n{}", answer.best_note,
                        answer.best_flags.empty() ? "" : "    " + answer.best_flags + '\n');
  else if (s.mapped && s.mapped->written)
    text += fmt::format("    max_memory={}\n", passed(s.mapped->memory));
  else if (s.mapped)
    text += "    no max_memory gives this placement: pass the map itself (--format json)\n";
  return text + '\n';
}

std::string min_text(const Answer& answer) {
  const auto amount = [](const std::optional<Bytes>& bytes) {
    return bytes ? fmt::format("{:.2f} GiB", real_count(*bytes) / GiB)
                 : std::string("no amount is enough");
  };
  const std::size_t cards = answer.given.machine->devices.size();
  std::string text = "Least GPU memory that runs it: " + amount(answer.least);
  if (answer.least == Bytes(0))
    text += " (it fits in host memory and on disk); to use a GPU: " + amount(answer.min_with_gpu);
  return text + (cards > 1 ? fmt::format(", on each of {} cards\n", cards) : "\n");
}

std::string orders_text(const Answer& answer) {
  if (answer.orders.empty()) return {};
  std::vector<std::vector<std::string>> rows;
  for (const Order& order : answer.orders) {
    const Estimate& e = order.estimate;
    const bool fits = !order.layers.empty();
    const double step = e.tokens_s > 0 ? e.tpot.value() : e.ttft.value();
    rows.push_back({order.name, fits ? duration(step) : "does not fit",
                    fits && e.tokens_s > 0 ? three_digits(e.tokens_s) : "", order.layers});
  }
  return "Full budgets, by the order in which devices are filled:\n" +
         aligned({"order", "step", "tokens/s", "layers"}, {false, true, true, false}, rows) + '\n';
}

}  // namespace

std::string as_text(const Answer& answer, const Options& options) {
  const GivenScenario& given = answer.given;
  const Explanation& last = answer.strategies.back().explained;
  std::string text = fmt::format("Model     {} ({}), {} in {}\nMachine   {}\n", given.model->name,
                                 given.model->architecture, both_units(given.weights->total),
                                 given.weights->scheme->name, given.machine->name);
  for (const auto& line : last.assumptions)
    if (!line.starts_with("GPU budget")) text += "Assumes   " + line + '\n';
  for (const auto& line : given.assumed) text += "Assumes   " + line + '\n';
  for (const auto& line : last.warnings) text += "Warning   " + line + '\n';
  text += '\n' + min_text(answer) + '\n';
  for (const Strategy& s : answer.strategies) text += block(answer, s);
  text += orders_text(answer) + contexts_text(answer) + splits_text(answer);
  const bool any = answer.chosen < answer.strategies.size();
  text += fmt::format("Recommended: {}, {}.\n",
                      any ? answer.strategies[answer.chosen].name : "none", answer.reason);
  for (const auto& note : answer.notes) text += "Note: " + note + ".\n";
  text += report::speed_classes_explained() + '\n';
  if (!any || given.scenario.runtime->offload.mode != Offload::stream) return text;
  const Strategy& chosen = answer.strategies[answer.chosen];
  text += fmt::format(
      "max_memory covers weights and buffers. It includes the room that the mapper keeps free for "
      "the largest layer on the first GPU and the CPU. device_map=\"{}\" makes these maps ({}). "
      "--format json prints the map itself",
      options.text("policy", "sequential"), options.text("mapper", "accelerate"));
  return text + (chosen.mapped ? ": " + names_note(*given.model, chosen.mapped->map) : "") + ".\n";
}

}  // namespace headroom::sweep
