#include "sweep/options/training_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/names.hpp"
#include "hardware/quantity_text.hpp"
#include "hardware/text.hpp"
#include "model/checkpoint/adapter.hpp"
#include "model/train/factors.hpp"
#include "model/train/passes.hpp"
#include "model/train/rank.hpp"
#include "model/train/tape/tower.hpp"
#include "model/train/time.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/options/adapter_options.hpp"
#include "sweep/options/engine_options.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/options/model_options.hpp"
#include "sweep/options/recipe_options.hpp"
#include "sweep/options/split_options.hpp"
#include "sweep/options/training_parts.hpp"
#include "sweep/output.hpp"
#include "sweep/sources/source.hpp"
#include "sweep/training/import.hpp"

namespace headroom::sweep {
namespace {

void refuse_inference_flags(const Options& options) {
  constexpr std::string_view flags = HEADROOM_ENGINE_FLAGS
      " engines kv-precision cache-type-k cache-type-v prompt-tokens output-tokens context "
      "no-kv-cache gpu-budget gpu-memory-utilization ram-budget disk-budget lora-adapters "
      "prompt-tokens-p95 output-tokens-p95 speculate text-only draft-model draft-precision "
      "draft-tokens acceptance";
  for (const std::string_view flag : headroom::words(flags))
    if (options.given(flag))
      throw UsageError(fmt::format("--{} has no effect on --task training", flag));
  if (const auto split = given_splits(options); !split.empty())
    throw UsageError(fmt::format("--{} has no effect on --task training", split.front().first));
}

int zero_of(const Options& options, const model::TrainingRuntime& runtime) {
  constexpr std::string_view stages[] = {"0", "1", "2", "3"};
  const int asked = options.one_of("zero", stages, stages[runtime.zero]).front() - '0';
  if (asked < runtime.zero)
    throw UsageError(fmt::format("--zero {}: {} shards at least as much as ZeRO {}", asked,
                                 runtime.name, runtime.zero));
  return asked;
}

/// examples/probe.py runs one card, a plain loop and torch's AdamW.
std::string probe_of(const Options& options, const model::TrainingScenario& s) {
  for (const auto* flag : {"warmup-steps", "probe-steps"}) options.requires_flag(flag, "probe");
  if (!options.given("probe") || options.given("estimate-only")) return {};
  if (s.parallel.cards() > 1 || s.base != nullptr)
    throw UsageError("--probe: examples/probe.py measures one card without quantised weights");
  std::string text = fmt::format("examples/probe.py {} --batch {} --seq {} --attention {}",
                                 s.model->name, s.batch, s.sequence, model::name_of(s.attention));
  if (s.recomputation == model::Recomputation::full) text += " --checkpointing full";
  if (s.adapter != nullptr) text += fmt::format(" --lora-rank {}", options.whole("lora-rank", 8));
  return text + fmt::format(" --warmup-steps {} --probe-steps {}", options.whole("warmup-steps", 3),
                            options.whole("probe-steps", 6));
}

/// The engine and the model.
void read_model(const Options& options, GivenTraining& given) {
  model::TrainingScenario& s = given.scenario;
  s.runtime = &model::training_runtime(options.text("runtime", "trainer"));
  if (!options.given("runtime"))
    given.assumed.emplace_back("runtime trainer: transformers' Trainer (--runtime)");
  given.model =
      std::make_unique<model::Model>(resolve_model(model_given(options), Hub(hub_flags(options))));
  if (!given.model->assumed.empty())
    given.assumed.push_back(fmt::format("model: {}", fmt::join(given.model->assumed, ", ")));
}

/// Adapters, and modules trained with them.
void read_adapters(const Options& options, GivenTraining& given) {
  model::TrainingScenario& s = given.scenario;
  const model::Model& m = *given.model;
  auto adapters = adapters_of(options);
  if (!adapters && !base_precision(options).empty()) adapters = model::AdapterRequest{};
  if (adapters) {
    given.adapter = std::make_unique<model::Adapter>(model::adapt(m, *adapters));
    given.adapters = *adapters;
    given.lora_alpha = options.whole("lora-alpha", 16);
    given.assumed.push_back(fmt::format(
        "adapters of rank {} for {}, in {}, scaled by {} / {}", adapters->rank,
        counted(std::ssize(given.adapter->modules), "module"),
        s.runtime->adapter_bytes == 4 ? "fp32" : "16 bit", given.lora_alpha, adapters->rank));
  } else if (options.given("lora-alpha")) {
    throw UsageError("--lora-alpha has no effect without --lora");
  }
  if (options.given("modules-to-save")) {
    if (!given.adapter) throw UsageError("--modules-to-save has no effect without --lora");
    given.copies = listed_names(options, "modules-to-save");
    s.trained_copies = copies_of(m, given.copies);
  }
  if (const std::string scheme = base_precision(options); !scheme.empty()) {
    given.base = std::make_unique<model::QuantisedModel>(model::frozen_base(m, *s.runtime, scheme));
    if (!given.base->refusal.empty())
      throw UsageError(fmt::format("--base-precision {}: {}", scheme, given.base->refusal));
    given.assumed.push_back(fmt::format(
        "frozen {} in {}{}", given.base->model->modules_alone ? "linear modules" : "weights",
        scheme == "nf4" ? "nf4, blocks of 64" : scheme,
        given.base->model->modules_alone ? "; experts that one parameter stacks stay in 16 bit "
                                           "(bitsandbytes issue 1849)"
                                         : ""));
  }
}

void read_machine(const Options& options, GivenTraining& given) {
  auto machine = machine_of(options);
  if (!machine) return;
  const model::TrainingScenario& s = given.scenario;
  given.machine = std::move(machine->machine);
  for (auto& line : machine->assumed) given.assumed.push_back(std::move(line));
  if (s.matrices != nullptr)
    for (const Device& card : given.machine->devices)
      if (!model::multiplies(card, *s.matrices))
        throw UsageError(fmt::format("--precision {}: {} has no units that multiply it",
                                     s.matrices->name, card.name));
  const auto cards = static_cast<Size>(given.machine->devices.size());
  if (cards < s.parallel.cards())
    throw UsageError(
        fmt::format("the run takes {} (--dp {} x --tp {} x --pp {} x --cp {}), and {} has {}",
                    counted(s.parallel.cards(), "card"), s.parallel.replicas, s.parallel.tensor,
                    s.parallel.stages, s.parallel.context, given.machine->name, cards));
}

/// A file freezes the tower of a model that has one; adapters freeze it anyway.
void freeze_tower(model::TrainingScenario& s, GivenTraining& given) {
  if (s.adapter != nullptr || s.tower_frozen || !model::vision_tower(*s.model)) return;
  s.tower_frozen = true;
  given.from_file.emplace_back("the vision tower is not trained");
}

void add_assumptions(const Options& options, GivenTraining& given) {
  if (std::ranges::any_of(given.model->profile.caches, [](const model::CacheClass& c) {
        return c.kind == model::CacheKind::recurrent;
      }))
    given.assumed.emplace_back(
        "recurrent layers by their kernels (mamba-ssm, causal-conv1d, fla), described from their "
        "sources and not measured: without them every state of every token is kept");
  if (std::ranges::any_of(given.model->part.modules,
                          [](const model::Module& m) { return m.quirks.unrecorded; }))
    given.assumed.emplace_back(
        "layers as their source has them: no recording of what they keep for backward stands "
        "behind the activations");
  if (!options.given("optimizer")) given.assumed.emplace_back("optimizer adamw (torch)");
  if (!options.given("seq"))
    given.assumed.push_back(fmt::format("sequences of {} tokens (--seq)", given.scenario.sequence));
}

GivenTraining step_of(const Options& options, const Imported& imported) {
  refuse_inference_flags(options);
  say_if_full_model(options);
  GivenTraining given;
  given.from_file = imported.taken;
  if (!imported.ignored.empty()) {
    given.ignored = imported.every_ignored();
    given.ignored_in_short = imported.ignored_in_short();
  }
  read_model(options, given);
  read_adapters(options, given);
  model::TrainingScenario& s = given.scenario;
  const model::Model& m = *given.model;
  given.plain = std::make_unique<model::QuantisedModel>(model::counted(m));
  s.model = given.model.get();
  s.plain = given.plain.get();
  s.base = given.base.get();
  s.adapter = given.adapter.get();
  s.zero = zero_of(options, *s.runtime);
  given.precision = options.text("precision", "bf16");
  s.matrices = matrices_of(options);
  if (const auto& shared = model::under_zero(*s.runtime, s.zero); &shared != s.runtime) {
    given.assumed.push_back(
        fmt::format("{} shards by DeepSpeed (--zero; --runtime fsdp and fsdp2 shard by FSDP)",
                    s.runtime->name));
    s.runtime = &shared;
  }
  s.recipe = &recipe_of(options, s, given, imported.loads_as_stored);
  if (s.matrices != nullptr)
    given.assumed.push_back(fmt::format("matrices of layers in {}: {}; all else in 16 bit",
                                        s.matrices->name, s.matrices->meaning));
  s.optimizer = &model::optimizer(options.text("optimizer", "adamw"));
  s.batch = options.whole("batch", 1);
  s.sequence = options.whole("seq", model::usual_sequence(m));
  s.accumulated = options.whole("grad-accum", 1);
  read_parallelism(options, s, given);
  read_offload(options, s);
  if (options.given("zero") && model::lacks_replicas(s))
    throw UsageError(fmt::format(
        "--zero {}: ZeRO shards over data parallel cards, and there is only one; --dp N has more",
        s.zero));
  read_kernels(options, s, given);
  read_images(options, s, given);
  if (imported.freezes_tower) freeze_tower(s, given);
  s.factors = factors_of(options);
  check_factors(s);
  given.token_budget = token_budget_of(options);
  read_packing(options, s, given);
  given.probe = probe_of(options, s);
  add_assumptions(options, given);
  read_machine(options, given);
  read_type(options, given);
  return given;
}

}  // namespace

void refuse_training_flags(const Options& options) {
  for (const std::string_view flag : headroom::words(HEADROOM_TRAINING_FLAGS))
    // Adapters are served too.
    if (options.given(flag) && flag != "lora" && flag != "lora-rank" && flag != "lora-targets")
      throw UsageError(fmt::format("--{} has no effect without --task training", flag));
}

GivenTraining training_of(const Options& given_options) {
  Options options = given_options;
  Imported imported;
  const auto named = [&](const std::exception& e) {
    const std::string message = e.what();
    const bool names_file =
        options.given("from") && message.starts_with(options.text("from") + ':');
    return UsageError(imported.naming_key(names_file ? message : options.naming_flag(message)));
  };
  try {
    import_training(options, imported);
    return step_of(options, imported);
  } catch (const UsageError& e) {
    throw named(e);
  } catch (const UnknownName& e) {
    throw named(e);
  } catch (const model::AdapterError& e) {
    throw named(e);
  }
}

}  // namespace headroom::sweep
