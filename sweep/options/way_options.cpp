#include "sweep/options/way_options.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <exception>

#include "hardware/text.hpp"
#include "model/engine/loaded_scheme.hpp"
#include "model/engine/loaded_weights.hpp"
#include "sweep/best_way.hpp"
#include "sweep/options/adapter_options.hpp"
#include "sweep/options/model_options.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// Flags that only some engines have, and whether an engine does.
struct EngineFlags {
  std::string_view flags;
  bool (*has)(const model::Engine&);
};
constexpr EngineFlags engine_flags[] = {
    {"text-only", [](const model::Engine& e) { return e.weights.towers != model::Towers::loaded; }},
    {"images", [](const model::Engine& e) { return e.weights.towers != model::Towers::left_out; }},
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
  return !m.repository.empty() && model::is_quantised(m);
}

/// True if flags change the figures of every way beyond what compare_ways() knows.
bool changes_figures(const Options& options) {
  constexpr std::string_view of_any[] = {"lora", "lora-rank", "speculate", "draft-model"};
  const auto is_given = [&](std::string_view flag) { return options.given(flag); };
  return std::ranges::any_of(of_any, is_given) ||
         std::ranges::any_of(engine_flags, [&](const EngineFlags& of_engine) {
           return std::ranges::any_of(words(of_engine.flags), [&](std::string_view flag) {
             return flag != "backend" && flag != "text-only" && is_given(flag);
           });
         });
}

/// This request, run by `way` with everything that the options say. Throws UsageError where
/// they do not suit it.
GivenScenario run_by(const Way& way, const Options& options, const GivenScenario& given) {
  GivenScenario one;
  one.engines = given.engines;
  one.model = std::make_unique<model::Model>(*given.model);
  one.machine = std::make_unique<Machine>(*given.machine);
  one.on_machine = given.on_machine;
  one.free = given.free;
  one.assumed = given.assumed;
  one.asked = given.asked;
  one.scenario = given.scenario;
  one.scenario.machine = one.machine.get();
  sweep::run_by(one.scenario, way);
  one.ways = {way};
  complete_point(options, nullptr, one);
  Way& own = one.ways.front();
  own.estimate = evaluate(one.scenario);
  own.tight = is_tight(one.scenario, own.estimate);
  own.place = place_of(own, one.scenario);
  return one;
}

/// The best of the ways, each with everything that the options say. Throws UsageError where none
/// suits them.
GivenScenario best_with_options(const Options& options, const GivenScenario& given) {
  std::vector<GivenScenario> all;
  std::exception_ptr unsuitable;
  const auto keep_first = [&] {
    if (!unsuitable) unsuitable = std::current_exception();
  };
  for (const Way& way : given.ways) try {
      all.push_back(run_by(way, options, given));
    } catch (const UsageError&) {
      keep_first();
    } catch (const std::invalid_argument&) {
      keep_first();
    }
  if (all.empty()) std::rethrow_exception(unsuitable);
  return std::move(*std::ranges::min_element(all, [](const auto& a, const auto& b) {
    return a.ways.front().place < b.ways.front().place;
  }));
}

}  // namespace

bool is_on_cpu_by_choice(const Options& options, const model::Scenario& s) {
  return s.gpu_budget == Bytes(0) && !options.given("gpu-budget") && !s.machine->devices.empty();
}

bool best_way(const Options& options, GivenScenario& given) {
  model::Scenario& s = given.scenario;
  const std::string precision = options.text("precision");
  if (!given.on_machine || !has_makers(*s.machine) ||
      (options.given("runtime") && !precision.empty()))
    return false;
  const auto engines = engines_of(options, *given.engines, *given.model, *s.machine);
  if (engines.empty()) return false;
  Compared compared{engines, options.texts("precisions"),
                    options.given("runtime") || options.given("runtimes")};
  if (!precision.empty()) compared.precisions = {precision};
  if (compared.precisions.empty() && names_its_weights(*given.model))
    compared.precisions = {"auto"};
  given.ways = compare_ways(*given.model, s, compared);
  if (given.ways.empty()) return false;
  if (changes_figures(options)) {
    given = best_with_options(options, given);
    return true;
  }
  s.runtime = given.ways.front().engine;
  s.gpu_budget = given.ways.front().gpu_budget;
  if (given.ways.size() > 1)
    given.assumed.push_back(fmt::format("{} under {}, {} (--precision, --runtime)",
                                        given.ways.front().weights->scheme->name, s.runtime->name,
                                        choice_words(given.ways, s.batch)));
  return false;
}

void complete_point(const Options& options, const model::Scheme* asked, GivenScenario& given) {
  model::Scenario& s = given.scenario;
  set_engine(options, *given.engines, given.on_machine, s);
  check_towers(options, *s.runtime, *given.model, given.assumed);
  if (!given.model->assumed.empty())
    given.assumed.push_back(fmt::format("model: {}", fmt::join(given.model->assumed, ", ")));
  const model::Scheme& loaded =
      given.ways.empty()
          ? model::loaded_scheme(*given.model, asked, *s.runtime, model::computing_machine(s))
          : *given.ways.front().weights->scheme;
  const model::Scheme* named = given.ways.empty() ? asked : given.ways.front().asked;
  if (auto note = model::loading_note(*given.model, named, *s.runtime, model::computing_machine(s));
      !note.empty())
    given.assumed.push_back(std::move(note));
  if (is_on_cpu_by_choice(options, s))
    given.assumed.emplace_back(
        "the CPU alone, as cards would wait for weights from host memory or disk (--gpu-budget)");
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
}

}  // namespace headroom::sweep
