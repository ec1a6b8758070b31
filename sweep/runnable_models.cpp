#include "sweep/runnable_models.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <memory>
#include <tuple>

#include "hardware/quantity_text.hpp"
#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/rank.hpp"
#include "model/train/runtime.hpp"
#include "model/train/training.hpp"
#include "report/words.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/factors.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/scenario_options.hpp"
#include "sweep/output.hpp"
#include "sweep/sources/source.hpp"

namespace headroom::sweep {
namespace {

using namespace model;

struct Row {
  std::unique_ptr<Model> model;
  std::string precision;
  Estimate estimate;
  Bytes download;              ///< files of the weights
  std::optional<Bytes> qlora;  ///< peak of one training step on one card
};

/// Precisions to try, the most bits first; empty: the checkpoint's own.
std::vector<std::string> precisions_of(const Options& options) {
  const auto given = options.texts("precisions");
  return given.empty() ? std::vector<std::string>{"auto", "q8_0", "int8", "q4_K_M", "nf4"} : given;
}

bool holds(const Engine& runtime, const Scheme& scheme) {
  return std::ranges::find(runtime.weights.formats, scheme.family) != runtime.weights.formats.end();
}

/// bitsandbytes packs the checkpoint as it is loaded; anything else is a file of its own.
Bytes download_of(const QuantisedModel& weights) {
  if (weights.scheme->family != SchemeFamily::bitsandbytes) return weights.total;
  return checkpoint_bytes(*weights.model);
}

/// Peak of QLoRA with its usual settings: rank 8 on every linear layer, batch 1 of 2048 tokens,
/// activation checkpointing. Empty if the model cannot be trained this way.
std::optional<Bytes> qlora_peak(const Model& m) {
  try {
    AdapterRequest request;
    request.targets = {"all-linear"};
    const Adapter adapter = adapt(m, request);
    const QuantisedModel base = quantise(m, scheme("nf4"));
    if (!base.refusal.empty()) return std::nullopt;
    const QuantisedModel plain = counted(m);
    TrainingScenario s;
    s.model = &m;
    s.plain = &plain;
    s.runtime = &training_runtime("trainer");
    s.base = &base;
    s.adapter = &adapter;
    s.optimizer = &optimizer("adamw");
    s.recipe = &recipe("pure-16bit");
    s.recomputation = Recomputation::full;
    return evaluate_training(s).peak;
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void work_out(Row& row, const Scenario& request, const std::vector<std::string>& precisions) {
  std::optional<report::Grade> best;
  for (const auto& name : precisions) {
    const Scheme& held = loaded_scheme(*row.model, name == "auto" ? nullptr : &scheme(name),
                                       *request.runtime, *request.machine);
    if (!holds(*request.runtime, held)) continue;
    const QuantisedModel weights = quantise(*row.model, held);
    if (!weights.refusal.empty()) continue;
    Scenario s = request;
    s.weights = &weights;
    const Estimate e = evaluate(s);
    if (best && report::grade(e) >= *best) continue;
    best = report::grade(e);
    row.precision = held.name;
    row.estimate = e;
    row.download = download_of(weights);
  }
  row.qlora = qlora_peak(*row.model);
}

bool runs(const Row& row) { return row.estimate.verdict < Verdict::does_not_fit; }
bool on_gpus(const Row& row) { return report::grade(row.estimate) == report::Grade::on_gpus; }

std::string verdict_of(const Row& row, const Machine& machine, const Engine& runtime) {
  report::ModelRow line;
  line.factors = interval_factors(runtime);
  if (!machine.devices.empty()) line.gpu_memory = machine.devices[0].memory.count();
  return report::verdict_words(line, {.point = 0, .budget = {}, .estimate = row.estimate});
}

report::Table table_of(const std::vector<Row>& rows, std::size_t most, const Machine& machine,
                       const Engine& runtime) {
  report::Table table{{"rank", "model", "parameters", "precision", "download_bytes", "verdict",
                       "sure", "gpu_bytes", "ttft_s", "tokens_s", "class", "qlora_bytes"},
                      {}};
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const Row& row = rows[i];
    const Estimate& e = row.estimate;
    table.rows.push_back({static_cast<Size>(i) + 1, row.model->name, row.model->profile.parameters,
                          row.precision, row.download.count(), verdict_of(row, machine, runtime),
                          std::string(name_of(e.sure)), e.gpu_bytes.count(), e.ttft.value(),
                          e.tokens_s, std::string(report::speed_class(e)),
                          row.qlora ? report::Value(row.qlora->count()) : report::Value()});
  }
  return table;
}

std::string lines_of(const std::vector<Row>& rows, std::size_t most, const Machine& machine,
                     const Engine& runtime) {
  std::vector<std::vector<std::string>> lines;
  for (std::size_t i = 0; i < std::min(most, rows.size()); ++i) {
    const Row& row = rows[i];
    const Estimate& e = row.estimate;
    lines.push_back(
        {std::to_string(i + 1), row.model->name,
         fmt::format("{:.3g} B", static_cast<double>(row.model->profile.parameters) / 1e9),
         row.precision, to_text(row.download), to_text(e.gpu_bytes), duration(e.ttft.value()),
         fmt::format("{:.3g}", e.tokens_s), verdict_of(row, machine, runtime)});
  }
  return aligned({"", "model", "parameters", "precision", "download", "each GPU", "first token",
                  "tokens/s", "verdict"},
                 {true, false, true, false, true, true, true, true, false}, lines);
}

std::string text_of(const std::vector<Row>& rows, std::size_t most, const GivenMachine& given,
                    const Engine& runtime) {
  const Machine& machine = given.machine;
  std::string text = fmt::format("Machine     {}\n", machine.name);
  for (const auto& line : given.assumed) text += "Assumes     " + line + '\n';
  text +=
      fmt::format("Assumes     runtime {} {}; each model in the largest precision that runs best\n",
                  runtime.name, runtime.version);
  const auto largest = [&](std::string_view name, auto&& qualifies, auto&& detail) {
    const Row* found = nullptr;
    for (const Row& row : rows)
      if (qualifies(row) &&
          (!found || row.model->profile.parameters > found->model->profile.parameters))
        found = &row;
    text += fmt::format("{:<11} {}\n", name, found ? detail(*found) : std::string("none"));
  };
  Bytes card;
  for (const Device& device : machine.devices) card = std::max(card, device.memory);
  const auto named = [](const Row& row) {
    return fmt::format("{} in {}, {:.3g} tokens/s", row.model->name, row.precision,
                       row.estimate.tokens_s);
  };
  if (!machine.devices.empty()) {
    largest("On GPUs", on_gpus, named);
    largest(
        "QLoRA", [&](const Row& row) { return row.qlora && *row.qlora <= card; },
        [](const Row& row) {
          return fmt::format(
              "{}, {} on one card (rank 8 on every linear layer, 2048 tokens, activation "
              "checkpointing; estimate without measurements)",
              row.model->name, to_text(*row.qlora));
        });
  }
  largest("At all", runs, named);
  return text + '\n' + lines_of(rows, most, machine, runtime) + report::speed_classes_explained() +
         '\n';
}

}  // namespace

int runnable_models(const Options& options) {
  const Format format = format_of(options);
  const Engines engines(options);
  Scenario request = request_of(options, engines);
  auto given = free_machine_of(options);
  if (!given) throw UsageError("on which machine? --machine local is this one");
  engines.measured(given->machine);
  for (auto& line : engines.assumed(&given->machine)) given->assumed.push_back(std::move(line));
  request.machine = &given->machine;
  const auto precisions = precisions_of(options);
  for (const auto& name : precisions)
    if (name != "auto") scheme(name);  // a name that is not known is said before any work
  std::vector<Row> rows;
  for (Resolved& each : resolve_models(catalogue_models(), Hub(hub_flags(options)))) {
    if (each.failure) std::rethrow_exception(each.failure);
    if (!each.model->profile.generative) continue;
    rows.emplace_back().model = std::make_unique<Model>(std::move(*each.model));
  }
  tbb::parallel_for(std::size_t{0}, rows.size(),
                    [&](std::size_t i) { work_out(rows[i], request, precisions); });
  std::erase_if(rows, [](const Row& row) { return !runs(row); });
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    return std::tuple(report::grade(a.estimate), -a.model->profile.parameters) <
           std::tuple(report::grade(b.estimate), -b.model->profile.parameters);
  });
  const auto most = static_cast<std::size_t>(options.whole("top", 20));
  emit(options, format == Format::text
                    ? text_of(rows, most, *given, *request.runtime)
                    : formatted(table_of(rows, most, given->machine, *request.runtime), format));
  return rows.empty() ? answer_is_no : done;
}

}  // namespace headroom::sweep
