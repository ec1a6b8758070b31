// headroom place MODEL on a machine: every strategy with what it comes to, one recommendation, the
// least GPU memory.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/strategy.hpp"
#include "report/knee.hpp"
#include "report/words.hpp"
#include "sweep/command.hpp"
#include "sweep/offload_folder.hpp"
#include "sweep/output.hpp"
#include "sweep/place.hpp"
#include "sweep/scenario_options.hpp"

namespace headroom::sweep {
namespace {

namespace json = boost::json;
using namespace model;

/// Everything that is printed.
struct Answer {
  const GivenScenario& given;
  const ModuleTree& tree;
  std::vector<Strategy> strategies;
  std::optional<Bytes> least, least_with_gpu;
  std::size_t chosen = 0;  ///< of the strategies; their number where none runs
  std::string reason;      ///< why it was chosen
};

double decimal_gigabytes(Bytes bytes) { return bytes.real().value() / 1e9; }

std::string both_units(Bytes bytes) {
  return fmt::format("{} ({:.1f} GB)", to_text(bytes), decimal_gigabytes(bytes));
}

/// Output tokens a second; of an encoder, prompts a second.
double speed(const Estimate& e) {
  return e.tokens_s > 0 ? e.tokens_s : e.ttft.value() > 0 ? 1.0 / e.ttft.value() : 0;
}

/// "needs 60.0 GB of GPU memory".
std::string needs(const Answer& answer, const Strategy& s) {
  const Estimate& e = s.explained.estimate;
  const std::size_t cards = answer.given.machine->devices.size();
  if (s.needed == Bytes(0)) return std::string(report::reason_words(e.reason));
  if (s.needed_of == Reason::ram) return "needs " + both_units(s.needed) + " of host memory";
  if (s.needed_of == Reason::disk) return "needs " + both_units(s.needed) + " of disk";
  return "needs " + both_units(s.needed) + " of GPU memory" +
         (cards > 1 ? fmt::format(" on each of {} cards", cards) : "");
}

std::string passed(const MaxMemory& memory) {
  std::string text;
  for (const DeviceMemory& device : memory) {
    if (device.device == "disk") continue;
    const Size mebibytes = device.limit / 8 >> 20;
    text += fmt::format("{}{}: \"{}MiB\"", text.empty() ? "" : ", ",
                        device.is_gpu() ? device.device : '"' + device.device + '"', mebibytes);
  }
  return '{' + text + '}';
}

std::string outcome(const Estimate& e) {
  if (!(e.tokens_s > 0))
    return fmt::format("load {}, {} a prompt", duration(e.load.value()), duration(e.ttft.value()));
  return fmt::format("load {}, first token {}, {:.3g} tokens/s: {}", duration(e.load.value()),
                     duration(e.ttft.value()), e.tokens_s, report::speed_class(e));
}

/// The devices of one strategy, a bar each.
std::string device_rows(const Explanation& explained) {
  std::vector<std::vector<std::string>> rows;
  for (const DeviceUse& use : explained.devices)
    rows.push_back({"   ", use.name, use.layers.empty() ? "-" : "layers " + use.layers,
                    to_text(use.weights), to_text(use.total), to_text(use.budget),
                    bar(use.total.real().value(), use.budget.real().value())});
  return aligned({"", "device", "layers", "weights", "in all", "of budget", ""},
                 {false, false, false, true, true, true, false}, rows);
}

std::string block(const Answer& answer, const Strategy& s) {
  const Estimate& e = s.explained.estimate;
  if (!s.feasible)
    return fmt::format("{} ({}): not feasible, {}\n\n", s.name, s.meaning, needs(answer, s));
  std::string text = fmt::format("{} ({}): {}{}\n", s.name, s.meaning, outcome(e),
                                 e.sure == Sure::marginal ? "; whether it fits is not sure" : "");
  text += device_rows(s.explained);
  if (s.mapped) text += fmt::format("    max_memory={}\n", passed(s.mapped->memory));
  return text + '\n';
}

std::string least_text(const Answer& answer) {
  const auto amount = [](const std::optional<Bytes>& bytes) {
    return bytes ? fmt::format("{:.2f} GiB", bytes->real().value() / (1 << 30))
                 : std::string("no amount");
  };
  const std::size_t cards = answer.given.machine->devices.size();
  std::string text = "Least GPU memory that runs it: " + amount(answer.least);
  if (answer.least == Bytes(0))
    text += " (host memory and disk hold it); with a GPU at work: " + amount(answer.least_with_gpu);
  return text + (cards > 1 ? fmt::format(", on each of {} cards\n", cards) : "\n");
}

std::string as_text(const Answer& answer, const Options& options) {
  const GivenScenario& given = answer.given;
  std::string text = fmt::format("Model     {} ({}), {} in {}\nMachine   {}\n", given.model->name,
                                 given.model->architecture, both_units(given.weights->total),
                                 given.weights->scheme->name, given.machine->name);
  for (const auto& line : answer.strategies.back().explained.assumptions)
    if (!line.starts_with("GPU budget")) text += "Assumes   " + line + '\n';
  for (const auto& line : given.assumed) text += "Assumes   " + line + '\n';
  for (const auto& line : answer.strategies.back().explained.warnings)
    text += "Warning   " + line + '\n';
  text += '\n' + least_text(answer) + '\n';
  for (const Strategy& s : answer.strategies) text += block(answer, s);
  const bool any = answer.chosen < answer.strategies.size();
  text += any ? fmt::format("Recommended: {}, {}.\n", answer.strategies[answer.chosen].name,
                            answer.reason)
              : fmt::format("Recommended: none, {}.\n", answer.reason);
  text += '\n' + report::speed_classes_explained() + '\n';
  if (!any || !answer.strategies[answer.chosen].mapped) return text;
  return text + fmt::format(
                    "max_memory is what weights and buffers may take of each budget; with "
                    "device_map=\"{}\" {} makes these maps of it. Of the map itself "
                    "(--format json): {}.\n",
                    options.text("policy", "sequential"), options.text("mapper", "accelerate"),
                    names_note(*given.model, answer.strategies[answer.chosen].mapped->map));
}

json::object strategy_object(const Answer& answer, const Strategy& s) {
  const Estimate& e = s.explained.estimate;
  const auto number = [](double value) {
    return std::isfinite(value) ? json::value(value) : json::value(nullptr);
  };
  json::object all{{"name", s.name}, {"meaning", s.meaning}, {"feasible", s.feasible}};
  all["needs"] = s.feasible ? json::value(nullptr) : json::value(needs(answer, s));
  all["needs_bytes"] =
      s.feasible || s.needed == Bytes(0) ? json::value(nullptr) : json::value(s.needed.count());
  all["gpu_budget_bytes"] = s.scenario.gpu_budget.count();
  all["ram_budget_bytes"] = s.scenario.ram_budget.count();
  all["verdict"] = name_of(e.verdict);
  all["sure"] = name_of(e.sure);
  if (!s.feasible) return all;
  json::object layers, bytes, max_memory;
  for (const DeviceUse& use : s.explained.devices) {
    layers[use.name] = use.layers;
    bytes[use.name] = use.total.count();
  }
  all["layers"] = std::move(layers);
  all["bytes"] = std::move(bytes);
  if (s.mapped) {
    for (const DeviceMemory& device : s.mapped->memory)
      if (device.device != "disk") max_memory[device.device] = device.limit / 8;
    all["max_memory"] = std::move(max_memory);
  }
  all["load_s"] = number(e.load.value());
  all["ttft_s"] = number(e.ttft.value());
  all["tpot_s"] = number(e.tpot.value());
  all["tokens_s"] = e.tokens_s;
  all["class"] = report::speed_class(e);
  return all;
}

json::object as_json(const Answer& answer) {
  json::object all;
  const bool any = answer.chosen < answer.strategies.size();
  if (any)
    if (const Strategy& s = answer.strategies[answer.chosen]; s.mapped) {
      all = map_object(*answer.given.model, answer.tree, s.mapped->memory, s.mapped->map);
      all["names"] = names_note(*answer.given.model, s.mapped->map);
    }
  all["strategy"] = any ? json::value(answer.strategies[answer.chosen].name) : json::value(nullptr);
  all["reason"] = answer.reason;
  const auto amount = [](const std::optional<Bytes>& bytes) {
    return bytes ? json::value(bytes->count()) : json::value(nullptr);
  };
  all["least_gpu_bytes"] = amount(answer.least);
  all["least_gpu_bytes_at_work"] = amount(answer.least_with_gpu);
  json::array strategies;
  for (const Strategy& s : answer.strategies) strategies.push_back(strategy_object(answer, s));
  all["strategies"] = std::move(strategies);
  return all;
}

report::Table as_table(const Answer& answer) {
  report::Table table{
      {"strategy", "feasible", "needs", "gpu_budget_bytes", "ram_budget_bytes", "layers",
       "weights_bytes", "max_memory", "load_s", "ttft_s", "tpot_s", "tokens_s", "class"},
      {}};
  for (const Strategy& s : answer.strategies) {
    const Estimate& e = s.explained.estimate;
    std::string layers, weights;
    if (s.feasible)
      for (const DeviceUse& use : s.explained.devices) {
        layers += fmt::format("{}{}: {}", layers.empty() ? "" : "; ", use.name,
                              use.layers.empty() ? "-" : use.layers);
        weights +=
            fmt::format("{}{}: {}", weights.empty() ? "" : "; ", use.name, use.weights.count());
      }
    const auto time = [&](Seconds t) {
      return s.feasible ? report::Value(t.value()) : report::Value();
    };
    table.rows.push_back({std::string(s.name), std::string(s.feasible ? "yes" : "no"),
                          s.feasible ? std::string() : needs(answer, s),
                          s.scenario.gpu_budget.count(), s.scenario.ram_budget.count(), layers,
                          weights, s.mapped ? passed(s.mapped->memory) : std::string(),
                          time(e.load), time(e.ttft), time(e.tpot),
                          s.feasible ? report::Value(e.tokens_s) : report::Value(),
                          std::string(s.feasible ? report::speed_class(e) : "")});
  }
  return table;
}

/// The least GPU memory that comes within the knee of the best speed.
void recommend(Answer& answer) {
  answer.chosen = answer.strategies.size();
  answer.reason = "no strategy runs here";
  double best = 0;
  for (const Strategy& s : answer.strategies)
    if (s.feasible) best = std::max(best, speed(s.explained.estimate));
  for (std::size_t i = answer.strategies.size(); i-- > 0;) {
    const Strategy& s = answer.strategies[i];
    if (!s.feasible || speed(s.explained.estimate) < report::knee_share * best) continue;
    if (answer.chosen == answer.strategies.size() ||
        s.scenario.gpu_budget < answer.strategies[answer.chosen].scenario.gpu_budget)
      answer.chosen = i;
  }
  if (answer.chosen == answer.strategies.size()) return;
  const double reached = speed(answer.strategies[answer.chosen].explained.estimate) / best;
  answer.reason = fmt::format(
      "the least GPU memory that reaches {:.0f} % of the best speed of all of them (it has {:.0f} "
      "%)",
      100 * report::knee_share, 100 * reached);
}

void choose(Answer& answer, const Options& options) {
  recommend(answer);
  if (!options.given("strategy")) return;
  std::vector<std::string_view> names;
  for (const Strategy& s : answer.strategies) names.push_back(s.name);
  const std::string wanted = options.one_of("strategy", names, "");
  answer.chosen = static_cast<std::size_t>(std::ranges::find(names, wanted) - names.begin());
  answer.reason = "as asked for";
}

/// Options of the mapper say nothing where no device map is made.
void refuse_mapper(const Options& options, const Runtime& runtime) {
  for (const auto flag : {"mapper", "policy", "no-split", "fallback-allocation", "no-clean"})
    if (options.given(flag) && runtime.offload != Offload::stream)
      throw UsageError(
          fmt::format("--{} has no effect: {} takes no device map", flag, runtime.name));
}

}  // namespace

int place_by_strategy(const Options& options) {
  const Format format = format_of(options);
  GivenScenario given = scenario_of(options);
  if (!given.on_machine)
    throw UsageError(
        "how much may each device hold? give raw budgets (--max-memory 0=6GiB --max-memory "
        "cpu=25GiB), or a machine (--machine, or --gpu-memory, --gpu-bandwidth, --ram and --disk)");
  Scenario& s = given.scenario;
  refuse_mapper(options, *s.runtime);
  if (options.given("offload-folder"))
    s.disk_budget = std::min(s.disk_budget, space_in(options.text("offload-folder")));
  if (!given.weights->refusal.empty())
    throw UsageError(fmt::format("--precision: {}", given.weights->refusal));
  const MapOptions map = map_options(options, *given.model);
  const ModuleTree tree = held_tree(*given.weights);
  Answer answer{given,
                tree,
                strategies(s, tree, policy_of(options, "sequential"), map),
                least_gpu_memory(s, runs),
                least_gpu_memory(s, uses_a_gpu),
                {},
                {}};
  choose(answer, options);
  if (format == Format::text)
    emit(options, as_text(answer, options));
  else if (format == Format::json)
    emit(options, pretty(as_json(answer)));
  else if (format == Format::jsonl)
    emit(options, json::serialize(as_json(answer)) + '\n');
  else
    emit(options, formatted(as_table(answer), format));
  const bool any =
      answer.chosen < answer.strategies.size() && answer.strategies[answer.chosen].feasible;
  return any ? done : answer_is_no;
}

}  // namespace headroom::sweep
