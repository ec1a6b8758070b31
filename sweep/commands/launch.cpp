// headroom launch: ready configurations for a point.
#include "sweep/launch/launch.hpp"

#include <fmt/format.h>

#include <string_view>
#include <utility>

#include "model/answer/explain.hpp"
#include "model/engine/loaded_weights.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "sweep/commands/command.hpp"
#include "sweep/launch/kinds.hpp"
#include "sweep/launch/llama_cpp_flags.hpp"
#include "sweep/launch/training.hpp"
#include "sweep/options/adapter_options.hpp"
#include "sweep/options/machine_options.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/advice_words.hpp"
#include "sweep/screen/answer_lines.hpp"

namespace headroom::sweep {
namespace {

/// The point as this kind's own runtime would run it.
std::string write(const LaunchKind& kind, GivenScenario& given, const Options& options) {
  model::Scenario s = given.scenario;
  const bool extras = given.adapters || s.draft != nullptr || s.images.count > 0;
  if (extras && !kind.extras)
    throw std::invalid_argument(
        "adapters, a draft model and images are not part of this file: transformers, llama.cpp, "
        "vllm and sglang start them");
  std::optional<model::QuantisedModel> loaded;
  const LaunchKind* own_kind = kind_of(*s.runtime);
  if (!kind.runtime.empty() && (own_kind == nullptr || own_kind->runtime != kind.runtime)) {
    if (options.given("runtime") && options.text("kind") != "all")
      throw std::invalid_argument(
          fmt::format("--runtime is {}, but this file is for {}", s.runtime->name, kind.runtime));
    s.runtime = &given.engines->named(kind.runtime);
    s.layer_split = nullptr;  // options of another engine
    s.cpu_offload = Bytes(0);
    if (s.draft != nullptr) check_draft(s, *s.draft);
    const auto form_of = [&](const model::Engine& engine) {
      return loaded_form(engine, *given.model, *s.weights->scheme);
    };
    if (given.adapters || form_of(*s.runtime) != form_of(*given.scenario.runtime)) {
      loaded = model::loaded_weights(*given.model, *s.weights->scheme, *s.runtime);
      if (given.adapters)
        loaded = model::with_adapters(*loaded, *s.runtime, *given.adapters, s.batch);
      s.weights = &*loaded;
    }
  }
  const bool own = s.runtime == given.scenario.runtime;
  if (!kind.precision.empty()) {
    loaded = model::loaded_weights(*given.model, model::scheme(kind.precision), *s.runtime);
    s.weights = &*loaded;
  }
  const model::Explanation explained = model::explain(s);
  if (!fits(explained.estimate))
    throw std::invalid_argument(
        fmt::format("{} ({}){}{}", model::name_of(explained.estimate.verdict),
                    model::name_of(explained.estimate.reason), explained.advice.empty() ? "" : ": ",
                    advice_words(explained.advice)));
  std::vector<std::pair<std::string, std::string>> split;
  if (own) split = given_splits(options);
  if (s.layer_split == nullptr)
    for (auto& flag : host_expert_flags(*given.model, model::place(s, 1.0).host_experts))
      split.push_back(std::move(flag));
  if (!kind.runtime.empty() && given.model->name.find('?') != std::string::npos)
    throw std::invalid_argument(fmt::format(
        "engines load the published config, and '{}' has other keys: change config.json in a copy "
        "of the checkpoint, and give the copy's folder as MODEL",
        given.model->name));
  return kind.write({s, explained, std::move(split), given.adapters ? &*given.adapters : nullptr});
}

int plan_of_tests(const Options& options) {
  std::vector<GivenScenario> given;
  std::vector<std::string> names = options.operands();
  if (names.empty()) throw UsageError("which MODEL…? a test plan takes several");
  for (const auto& name : names) given.push_back(scenario_of(options, name));
  std::vector<model::Explanation> explained;
  for (const auto& each : given) explained.push_back(model::explain(each.scenario));
  std::vector<PlannedTest> tests;
  for (std::size_t i = 0; i < given.size(); ++i)
    tests.push_back(
        {{given[i].scenario, explained[i], {}}, launch_words(given[i], model::unlimited)});
  emit(options, test_plan(tests));
  return done;
}

/// A file of one engine is about that engine's ways, unless --runtime names a version of it.
Options with_engine_of(const LaunchKind& kind, Options options) {
  if (!kind.runtime.empty()) options.supply("runtime", std::string(kind.runtime));
  return options;
}

int no_file(std::string_view name, std::string_view reason) {
  fmt::print(stderr, "headroom: no {}: {}\n", name, reason);
  return answer_is_no;
}

int write_one(const LaunchKind& kind, GivenScenario&& given, const Options& options) {
  try {
    emit(options, write(kind, given, options));
  } catch (const std::invalid_argument& e) {
    return no_file(kind.name, e.what());
  }
  return done;
}

int run_launch(const Options& options) {
  if (!machine_of(options))
    throw UsageError("which machine? --machine, or --gpu-memory and the like");
  constexpr std::string_view tasks[] = {"inference", "training"};
  if (options.one_of("task", tasks, "inference") == "training") return launch_training(options);
  refuse_training_flags(options);
  const std::string kind = options.text("kind");
  if (kind == "test-plan") return plan_of_tests(options);
  if (!kind.empty() && kind != "all") {
    const LaunchKind& chosen = launch_kind(kind);
    const Options of_engine = with_engine_of(chosen, options);
    return write_one(chosen, scenario_of(of_engine), of_engine);
  }
  GivenScenario given = scenario_of(options);
  if (kind == "all")
    return write_kinds(options, launch_kinds(),
                       [&](const LaunchKind& each) { return write(each, given, options); });
  if (const LaunchKind* own = kind_of(*given.scenario.runtime))
    return write_one(*own, std::move(given), options);
  return no_file("script",
                 fmt::format("launch writes no file that starts {}: --kind slurm or --kind measure "
                             "wraps a command of yours",
                             given.scenario.runtime->name));
}

}  // namespace

const Command launch_command = {
    {.name = "launch",
     .summary = "write scripts, flags, JSON, a batch job or a test plan for a point",
     .operands = "MODEL…",
     .operand_help = "Several models: for --kind test-plan alone.",
     .flags = HEADROOM_SCENARIO_FLAGS " " HEADROOM_MACHINE_FLAGS " " HEADROOM_STEP_FLAGS
                                      " " HEADROOM_COMPANION_FLAGS " task kind out",
     .examples =
         "headroom launch Qwen/Qwen3-32B --machine '2x a100-sxm-40gb @ dual-epyc-120gb' > load.py\n"
         "headroom launch llama3-8b --machine rtx-4090 --runtime llama.cpp --precision q4_K_M\n"
         "headroom launch llama3-70b --machine '4x h100-sxm-80gb' --runtime vllm --kind slurm\n"
         "headroom launch llama3-8b --machine rtx-4090 --kind all --out launch\n"
         "headroom launch llama3-8b --machine h100-sxm-80gb --task training --lora --seq 4096 > "
         "train.py\n"
         "headroom launch llama2-7b Qwen/Qwen3-32B llama3-70b --machine '2x a100-sxm-40gb' "
         "--kind test-plan",
     .columns =
         "--kind: transformers, transformers-8bit, llama.cpp, ollama, lm-studio, mlx-lm, vllm,\n"
         "  sglang, tensorrt-llm, exllamav3, ktransformers, kt-kernel, deepspeed-inference,\n"
         "  deepspeed-zero3, slurm, measure, test-plan (Markdown, takes several models), all\n"
         "--kind of --task training: trainer, deepspeed, llama-factory, axolotl, accelerate, all\n"
         "every file contains the figures of that point",
     .exit_codes =
         "0 done\n1 failed: a file that cannot be written\n2 usage: an option or a name that "
         "is not understood\n3 no: the point does not fit, or cannot be started this way"},
    run_launch};

}  // namespace headroom::sweep
