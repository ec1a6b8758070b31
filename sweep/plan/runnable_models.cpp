#include "sweep/plan/runnable_models.hpp"

#include <fmt/format.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <tuple>
#include <utility>

#include "hardware/quantity_text.hpp"
#include "model/checkpoint/quantisation/checkpoint_bytes.hpp"
#include "model/checkpoint/quantisation/tensor_index.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/usual_context.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/rank.hpp"
#include "model/train/runtime.hpp"
#include "model/train/training.hpp"
#include "report/words.hpp"
#include "sweep/best_way.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/factors.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/engine_options.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/scenario_options.hpp"
#include "sweep/output.hpp"
#include "sweep/plan/runnable_rows.hpp"
#include "sweep/screen/answer_lines.hpp"
#include "sweep/screen/fewer_note.hpp"
#include "sweep/screen/interval_words.hpp"
#include "sweep/sources/source.hpp"
#include "sweep/training/answer.hpp"

namespace headroom::sweep {
namespace {

using namespace model;
using Row = RunnableRow;
using Line = RunnableLine;

/// bitsandbytes packs the checkpoint as it is loaded; anything else is a file of its own.
Bytes download_of(const QuantisedModel& weights) {
  if (weights.scheme->family != SchemeFamily::bitsandbytes) return weights.total;
  return checkpoint_bytes(*weights.model);
}

/// QLoRA with its usual settings: rank 8 on every linear layer, batch 1 of 2048 tokens,
/// activation checkpointing. Empty if the model cannot be trained this way.
std::optional<TrainingEstimate> qlora_step(const Model& m) {
  try {
    AdapterRequest request;
    request.targets = {"all-linear"};
    const Adapter adapter = adapt(m, request);
    const QuantisedModel base = frozen_base(m, training_runtime("trainer"));
    if (!base.refusal.empty()) return std::nullopt;
    const QuantisedModel plain = counted(m);
    TrainingScenario s;
    s.model = &m;
    s.plain = &plain;
    s.runtime = &training_runtime("trainer");
    s.base = &base;
    s.adapter = &adapter;
    s.optimizer = &optimizer("adamw");
    s.recipe = &usual_recipe(*s.runtime, s.zero, trained_by(s));
    s.recomputation = Recomputation::full;
    s.sequence = usual_sequence(m);
    return evaluate_training(s);
  } catch (const std::exception&) {
    return std::nullopt;
  }
}

void work_out(Row& row, const Scenario& request, const AskedWay& asked, const Engines& engines) {
  std::optional<report::Grade> best;
  for (const auto& ways : best_ways(asked, engines, *row.model, request, OffloadedWays::refused)) {
    const Way& way = ways.front();
    if (!way.weights->refusal.empty() || (best && report::grade(way.estimate) >= *best)) continue;
    best = report::grade(way.estimate);
    row.precision = way.weights->scheme->name;
    row.engine = way.engine;
    row.estimate = way.estimate;
    row.tight = way.tight;
    Scenario run = request;
    run_by(run, way);
    if (asked.has_usual_context) run.context = usual_context(run, *row.model);
    row.faster_on_fewer = fewer_cards_serve_more(run, way.estimate);
    row.download = download_of(*way.weights);
  }
}

/// The largest model whose training step fits on `card`, tight or not. Four bits a parameter are
/// its least, which spares most models the estimate.
std::string largest_trained(const std::vector<Row>& rows, const Device& card) {
  const Bytes memory = usable_memory(card);
  std::vector<const Model*> models;
  for (const Row& row : rows)
    if (row.model->profile.parameters / 2 <= memory.count()) models.push_back(row.model.get());
  std::ranges::stable_sort(models, std::greater{},
                           [](const Model* m) { return m->profile.parameters; });
  for (const Model* m : models)
    if (const auto step = qlora_step(*m); step && step->peak <= memory)
      return fmt::format(
          "{}, ~{} GiB on one card{} (rank 8 on all linear layers, 2,048 tokens or the model's "
          "limit, activation "
          "checkpointing)",
          m->name, in_gib(step->peak), has_room(card, memory, step->peak_high) ? "" : ", tight");
  return "none";
}

/// The tokens of a request.
std::string context_words(const Scenario& s) {
  return fmt::format(
      "a prompt of {}, {}, {} at once (--prompt-tokens, --output-tokens, --batch), a "
      "context of {} (--context).",
      grouped(s.prompt_tokens, "token"), grouped(s.output_tokens, "output token"), grouped(s.batch),
      s.context > 0 ? grouped(s.context) + " tokens" : "8,192 tokens or the model's limit");
}

std::string text_of(const std::vector<Row>& rows, std::size_t most, const GivenMachine& given,
                    const Scenario& request) {
  const Machine& machine = given.machine;
  const auto number = [&](auto&& qualifies) { return std::ranges::count_if(rows, qualifies); };
  const auto quick = [](const Row& row) { return !model::is_too_slow(row.estimate); };
  const auto offloads = [&](const Row& row) { return !on_gpus(row) && quick(row); };
  std::string text = machine.name + '\n';
  if (!machine.devices.empty())
    text += fmt::format("{} {} on its GPUs, ", counted(number(on_gpus), "model"),
                        number(on_gpus) == 1 ? "fits" : "fit");
  text += fmt::format("{} {} {:.0f} token/s or more {}, {} more slowly\n", number(offloads),
                      machine.devices.empty() ? "models run at" : "run at", model::usable_tokens_s,
                      machine.devices.empty() ? "on the CPU" : "with host memory",
                      std::ssize(rows) - number(on_gpus) - number(offloads));
  const auto line = [&](std::string_view name, std::string_view what) {
    text += wrapped(fmt::format("{} {}", name, what), 0, 2);
  };
  const auto largest = [&](auto&& qualifies) {
    const Row* found = nullptr;
    // Weights below 4 bits answer where no others do, as in `plan largest-model`.
    const auto place = [](const Row& row) {
      return std::pair(!loses_more(row), row.model->profile.parameters);
    };
    for (const Row& row : rows)
      if (qualifies(row) && (!found || place(row) > place(*found))) found = &row;
    return found
               ? fmt::format("{} in {} under {}, {} tokens/s", found->model->name, found->precision,
                             found->engine->name, three_digits(found->estimate.tokens_s))
               : std::string("none");
  };
  if (!machine.devices.empty()) line("Largest on GPUs:", largest(on_gpus));
  line(fmt::format("Largest at {:.0f} token/s or more:", model::usable_tokens_s), largest(quick));
  if (!machine.devices.empty())
    line("Largest for QLoRA:",
         largest_trained(rows, *std::ranges::max_element(machine.devices, {}, usable_memory)));
  const std::vector<Line> lines = runnable_lines(rows, most);
  text += '\n' + runnable_list(lines, machine) + '\n';
  line("Assumes",
       "each model in the weights and under the engine that `estimate` takes (--runtime, "
       "--precision).");
  line("Assumes", context_words(request));
  for (const auto& each : given.assumed) line("Assumes", each + '.');
  text += footnote_of(text);
  std::size_t shown = 0;
  for (const Line& each : lines) shown += 1 + each.alike;
  if (shown > lines.size())
    line("+1:", "another checkpoint or fine-tune of the same shape; --format csv names all.");
  if (std::ranges::any_of(lines, [](const Line& each) { return each.row->faster_on_fewer; }))
    line("Faster on fewer:",
         "cards wait for each other; `headroom estimate MODEL` says how many serve more.");
  line("Next:", fmt::format("{}--format csv, or headroom MODEL '{}' for one of them",
                            shown < rows.size() ? fmt::format("--top {} (these are {} of {}), ",
                                                              4 * most, shown, rows.size())
                                                : "",
                            given_machine(machine)));
  return text;
}

}  // namespace

int runnable_models(const Options& options, const SlowestAccepted& slowest) {
  const Format format = format_of(options);
  const Engines engines(options);
  Scenario request = request_of(options, engines);
  set_sequences(options, engines, request);
  auto given = free_machine_of(options);
  if (!given) throw UsageError("on which machine? --machine local is this one");
  engines.measured(given->machine);
  for (auto& line : engines.assumed(&given->machine)) given->assumed.push_back(std::move(line));
  request.machine = &given->machine;
  const AskedWay asked = asked_way(options, engines);
  std::vector<Row> rows;
  for (Resolved& each : resolve_models(catalogue_models(), Hub(hub_flags(options)))) {
    if (each.failure) std::rethrow_exception(each.failure);
    if (!each.model->writes()) continue;
    rows.emplace_back().model = std::make_unique<Model>(std::move(*each.model));
  }
  tbb::parallel_for(std::size_t{0}, rows.size(),
                    [&](std::size_t i) { work_out(rows[i], request, asked, engines); });
  std::erase_if(rows, [&](const Row& row) {
    return !row.engine || !fits(row.estimate.verdict) ||
           (slowest.ttft && row.estimate.ttft > *slowest.ttft) ||
           (slowest.tpot && row.estimate.tpot > *slowest.tpot);
  });
  std::ranges::stable_sort(rows, [](const Row& a, const Row& b) {
    const auto place = [](const Row& row) {
      return std::tuple(is_too_slow(row.estimate), report::grade(row.estimate),
                        -row.model->profile.parameters);
    };
    return place(a) < place(b);
  });
  const Size usual = format == Format::text ? 12 : std::ssize(rows);
  const auto most = static_cast<std::size_t>(options.whole("top", usual));
  if (format == Format::text) {
    emit(options, text_of(rows, most, *given, request));
  } else {
    tbb::parallel_for(std::size_t{0}, std::min(most, rows.size()), [&](std::size_t i) {
      const auto step = qlora_step(*rows[i].model);
      if (step) rows[i].qlora = step->peak;
    });
    emit(options, formatted(runnable_table(rows, most), format));
  }
  return rows.empty() ? answer_is_no : done;
}

}  // namespace headroom::sweep
