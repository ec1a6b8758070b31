#include "sweep/options/scenario_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/engine/loaded_weights.hpp"
#include "model/infer/scenario/usual_context.hpp"
#include "sweep/best_way.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/adapter_options.hpp"
#include "sweep/options/cache_options.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/model_options.hpp"
#include "sweep/options/prompt_options.hpp"
#include "sweep/output.hpp"
#include "sweep/sources/source.hpp"
#include "sweep/spec/budget.hpp"

namespace headroom::sweep {
namespace {

/// A card without limits, for estimates of memory alone.
Machine no_machine() {
  Machine machine;
  machine.name = "none";
  Device card;
  card.name = "any";
  set_memory(card, Bytes(Size{1} << 60));
  card.bandwidth = card.host_bus = BytesPerSecond(1e12);
  card.fp32 = card.fp16 = card.bf16 = FlopsPerSecond(1e14);
  machine.devices = {card};
  machine.host.name = "none";
  machine.host.ram = machine.host.disk = Bytes(Size{1} << 60);
  machine.host.ram_bandwidth = machine.host.disk_read = BytesPerSecond(1e11);
  machine.host.cpu_peak = FlopsPerSecond(1e12);
  return machine;
}

double share(const Options& options) {
  const std::string text = options.text("gpu-memory-utilization");
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || !(value > 0) || value > 1)
    throw UsageError(fmt::format(
        "--gpu-memory-utilization: found '{}', expected a share above 0 and at most 1", text));
  return value;
}

void set_tokens(const Options& options, model::Scenario& s) {
  options.exclusive({"context", "seq"});
  s.batch = options.whole("batch", 1);
  s.prompt_tokens = options.whole("prompt-tokens", 512);
  s.output_tokens = options.whole("output-tokens", 128);
  const std::string_view flag = options.given("seq") ? "seq" : "context";
  if (!options.given(flag)) return;
  s.context = options.whole(flag, 0);
  if (s.context < s.prompt_tokens + s.output_tokens)
    throw UsageError(fmt::format(
        "--{}: {} is less than prompt and output together ({} + {}); give --prompt-tokens and "
        "--output-tokens as well",
        flag, s.context, s.prompt_tokens, s.output_tokens));
}

/// A size left out stays 0: the runtime's own.
void set_parallel(const Options& options, bool on_machine, model::Scenario& s) {
  for (const auto& [flag, member] : {std::pair{"tp", &model::Scenario::tensor_parallel},
                                     {"pp", &model::Scenario::pipeline_parallel},
                                     {"ep", &model::Scenario::expert_parallel},
                                     {"dp", &model::Scenario::data_parallel}}) {
    if (!options.given(flag)) continue;
    if (!on_machine) throw UsageError(fmt::format("--{} has no effect without a machine", flag));
    s.*member = options.whole(flag, 0);
  }
  const Size asked = std::max<Size>(1, s.tensor_parallel) * std::max<Size>(1, s.pipeline_parallel) *
                     std::max<Size>(1, s.data_parallel);
  if (on_machine && asked > 1 && asked > std::ssize(s.machine->devices))
    throw UsageError(fmt::format("--tp, --pp and --dp ask for {} cards together; {} has {}", asked,
                                 s.machine->name, s.machine->devices.size()));
}

void set_budgets(const Options& options, bool on_machine, model::Scenario& s) {
  options.exclusive({"gpu-budget", "gpu-memory-utilization"});
  for (const auto flag : {"gpu-budget", "gpu-memory-utilization", "ram-budget", "disk-budget"})
    if (options.given(flag) && !on_machine)
      throw UsageError(fmt::format("--{} has no effect without a machine", flag));
  // Plain bytes, as csv prints them; a small number lacks its unit.
  const auto budget = [](std::string_view text) {
    constexpr Size least = Size{1} << 20;
    const auto bytes = whole_number(text);
    if (bytes && *bytes >= least) return Budget{.bytes = Bytes(*bytes)};
    return parse_budget(text);
  };
  const auto of = [&](std::string_view flag, const Budget& given, Bytes memory,
                      const std::string& owner) {
    if (given.kind == Budget::Kind::rest && given.bytes > memory)
      throw UsageError(fmt::format("--{}: {} leaves nothing: {} has {}", flag, options.text(flag),
                                   owner, to_text(memory)));
    return given.kind == Budget::Kind::size ? given.bytes : given.of(memory);
  };
  if (const auto given = options.read("gpu-budget", budget)) {
    const Bytes largest = largest_card(*s.machine);
    const std::string owner = "the largest card of " + s.machine->name;
    s.gpu_budget = of("gpu-budget", *given, largest, owner);
    // A card's size as it is sold may be beyond what its driver reports.
    if (s.gpu_budget.real().value() > 1.1 * largest.real().value())
      throw UsageError(fmt::format("--gpu-budget: {} is {}, and {} has {}",
                                   options.text("gpu-budget"), to_text(s.gpu_budget), owner,
                                   to_text(largest)));
  }
  const std::string host = "the host of " + s.machine->name;
  if (const auto given = options.read("ram-budget", budget))
    s.ram_budget = of("ram-budget", *given, s.machine->host.ram, host);
  if (const auto given = options.read("disk-budget", budget))
    s.disk_budget = of("disk-budget", *given, s.machine->host.disk, host);
  if (options.given("gpu-memory-utilization")) s.gpu_share = share(options);
}

/// Flags that only some engines have, and whether an engine does.
struct EngineFlags {
  std::string_view flags;
  bool (*has)(const model::Engine&);
};
constexpr EngineFlags engine_flags[] = {
    {"split-mode",
     [](const model::Engine& e) {
       return e.offload.mode == model::Offload::compute || !e.parallel.split_mode.empty();
     }},
    {"gpu-layers tensor-split main-gpu no-kv-offload cpu-moe n-cpu-moe override-tensor "
     "threads",
     [](const model::Engine& e) { return e.offload.mode == model::Offload::compute; }},
    {"backend", [](const model::Engine& e) { return !e.with_vulkan.empty(); }},
    {"cpu-offload-gb", [](const model::Engine& e) { return e.offload.supports_cpu_offload; }},
    {"enforce-eager", [](const model::Engine& e) { return e.kernels.graphs; }},
    {"max-num-seqs", [](const model::Engine& e) { return e.memory.start_pass.sequences > 0; }},
    {"max-num-batched-tokens",
     [](const model::Engine& e) { return !e.serving.chunk_option.empty(); }},
    {"mapper policy no-split fallback-allocation no-clean",
     [](const model::Engine& e) { return e.offload.mode == model::Offload::stream; }},
};

/// Engines that are compared: the one that was asked for, or all that suit and have the flags.
std::vector<const model::Engine*> engines_of(const Options& options, const Engines& engines,
                                             const model::Model& m, const Machine& machine) {
  std::vector<const model::Engine*> asked;
  for (const auto* flag : {"runtime", "runtimes"})
    for (const auto& name : options.texts(flag)) asked.push_back(&engines.named(name));
  if (!asked.empty()) return asked;
  std::vector<std::string> precisions = options.texts("precisions");
  if (options.given("precision")) precisions.push_back(options.text("precision"));
  auto all = comparable_engines(engines, m, machine, precisions);
  for (const auto& [flags, has] : engine_flags)
    for (const std::string_view flag : words(flags))
      if (options.given(flag))
        std::erase_if(all, [&](const model::Engine* each) { return !has(*each); });
  return all;
}

/// True if the model was named as a repository or files of quantised weights: these are meant.
bool names_its_weights(const model::Model& m) {
  return !m.repository.empty() &&
         model::scheme(m.checkpoint_scheme).family != model::SchemeFamily::plain;
}

/// Chooses engine and precision where one of them was left out. A card by its figures alone has no
/// maker: no engine is known to have kernels for it, and nothing is chosen.
void choose(const Options& options, GivenScenario& given) {
  model::Scenario& s = given.scenario;
  const std::string precision = options.text("precision");
  if (!given.on_machine || !has_makers(*s.machine) ||
      (options.given("runtime") && !precision.empty()))
    return;
  const auto engines = engines_of(options, *given.engines, *given.model, *s.machine);
  if (engines.empty()) return;
  Compared compared{engines, options.texts("precisions")};
  if (!precision.empty()) compared.precisions = {precision};
  if (compared.precisions.empty() && names_its_weights(*given.model))
    compared.precisions = {"auto"};
  given.ways = compare_ways(*given.model, s, compared);
  if (given.ways.empty()) return;
  s.runtime = given.ways.front().engine;
  // These change the figures of every way: only the chosen one is worked out with them.
  bool changes_figures = false;
  for (const auto* flag : {"text-only", "images", "lora", "lora-rank", "speculate", "draft-model"})
    changes_figures = changes_figures || options.given(flag);
  for (const EngineFlags& of_engine : engine_flags)
    for (const std::string_view flag : words(of_engine.flags))
      changes_figures = changes_figures || (flag != "backend" && options.given(flag));
  if (changes_figures) given.ways.resize(1);
  if (given.ways.size() > 1)
    given.assumed.push_back(fmt::format("{} under {}, {} (--precision, --runtime)",
                                        given.ways.front().weights->scheme->name, s.runtime->name,
                                        choice_words(given.ways, s.batch)));
}

}  // namespace

namespace {

/// Throws UsageError with the precisions that engines are usually run in.
const model::Scheme& scheme_named(const std::string& name, const Engines& engines) try {
  return model::scheme(name);
} catch (const UnknownName& e) {
  std::vector<std::string_view> usual;
  for (const model::Engine& each : engines.all())
    if (each.is_compared)
      for (const auto precision : each.usual_precisions)
        if (std::ranges::find(usual, precision) == usual.end()) usual.push_back(precision);
  if (headroom::lower(name).starts_with("ud-"))
    throw UsageError(fmt::format(
        "'{}' chooses types tensor by tensor: only the file's header has them; give the "
        "repository as MODEL (org/name-GGUF:{}) or the .gguf file",
        name, name));
  throw UsageError(fmt::format("{}; usual ones are {}", e.what(), fmt::join(usual, ", ")));
}

}  // namespace

bool says_context(const Options& options) {
  constexpr std::string_view flags[] = {"context", "seq", "prompt-tokens-p95", "output-tokens-p95"};
  return std::ranges::any_of(flags, [&](std::string_view flag) { return options.given(flag); });
}

model::Scenario request_of(const Options& options, const Engines& engines) {
  model::Scenario s;
  set_tokens(options, s);
  s.runtime = &engines.named(options.text("runtime", "transformers"));
  set_cache(options, s);
  return s;
}

GivenScenario scenario_of(const Options& options) {
  return scenario_of(options, model_given(options));
}

GivenScenario scenario_of(const Options& options, const std::string& name) {
  say_if_full_model(options);
  GivenScenario given;
  given.engines = std::make_shared<Engines>(options);
  model::Scenario& s = given.scenario = request_of(options, *given.engines);
  const std::string held = options.text("precision", "auto");
  const model::Scheme* scheme = held == "auto" ? nullptr : &scheme_named(held, *given.engines);
  if (auto machine = machine_of(options)) {
    given.machine = std::make_unique<Machine>(std::move(machine->machine));
    given.assumed = std::move(machine->assumed);
    given.asked = as_argument(name) + machine->asked +
                  as_given(options, HEADROOM_POINT_FLAGS " " HEADROOM_SERVED_ADAPTER_FLAGS
                                                         " " HEADROOM_COMPANION_FLAGS);
    given.free = std::move(machine->free);
  } else {
    given.machine = std::make_unique<Machine>(no_machine());
    given.on_machine = false;
  }
  given.engines->measured(*given.machine);
  for (auto& line : given.engines->assumed(given.on_machine ? given.machine.get() : nullptr))
    given.assumed.push_back(std::move(line));
  s.machine = given.machine.get();
  set_budgets(options, given.on_machine, s);
  set_parallel(options, given.on_machine, s);
  given.model = std::make_unique<model::Model>(resolve_model(name, Hub(hub_flags(options))));
  fit_prompt(options, *given.model, s, given.assumed);
  if (!says_context(options)) s.context = model::usual_context(s, *given.model);
  choose(options, given);
  set_engine(options, *given.engines, given.on_machine, s);
  take_towers(options, *s.runtime, *given.model, given.assumed);
  if (!given.model->assumed.empty())
    given.assumed.push_back(fmt::format("model: {}", fmt::join(given.model->assumed, ", ")));
  const model::Scheme& loaded =
      given.ways.empty() ? model::loaded_scheme(*given.model, scheme, *s.runtime, *s.machine)
                         : *given.ways.front().weights->scheme;
  const model::Scheme* named = given.ways.empty() ? scheme : given.ways.front().asked;
  if (auto note = model::loading_note(*given.model, named, *s.runtime, *s.machine); !note.empty())
    given.assumed.push_back(std::move(note));
  given.weights = std::make_unique<model::QuantisedModel>(
      model::loaded_weights(*given.model, loaded, *s.runtime));
  s.weights = given.weights.get();
  if (!given.on_machine) refuse_splits(options);
  add_images(options, s, given.assumed);
  given.layer_split = layer_split_of(options, s);
  s.layer_split = given.layer_split.get();
  s.cpu_offload = cpu_offload_of(options, s);
  given.adapters = add_adapters(options, s, *given.weights, given.assumed);
  given.draft = add_draft(options, s, given.assumed);
  return given;
}

}  // namespace headroom::sweep
