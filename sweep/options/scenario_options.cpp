#include "sweep/options/scenario_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/infer/scenario/usual_context.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/cache_options.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/model_options.hpp"
#include "sweep/options/prompt_options.hpp"
#include "sweep/options/way_options.hpp"
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
    throw UsageError(fmt::format(
        "--tp, --pp and --dp ask for {} cards together; {} has {}: --machine \"{}x …\" has more",
        asked, s.machine->name, s.machine->devices.size(), asked));
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
  take_towers(options, *given.model, given.assumed);
  if (best_way(options, given)) return given;
  complete_point(options, scheme, given);
  return given;
}

}  // namespace headroom::sweep
