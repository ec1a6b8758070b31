// Points per second and core that evaluate() does, by the kind of model, and what comes before the
// first point: reading a config, describing the model, holding its weights in a precision.
#include <benchmark/benchmark.h>

#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "model/estimate.hpp"
#include "model/evaluator.hpp"
#include "model/training/outcome.hpp"
#include "model/training/rank.hpp"
#include "model/training/shape.hpp"
#include "model/training/time.hpp"
#include "sweep/sources/source.hpp"

namespace {

using namespace headroom;

/// A grid over batches, contexts, engines and GPU budgets, in the order of a sweep.
std::vector<model::Scenario> points(const model::Weights& weights, const Machine& machine) {
  std::vector<model::Scenario> all;
  for (const char* engine : {"transformers", "llama.cpp"})
    for (const Size batch : {1, 4, 16})
      for (const Size prompt : {512, 4096})
        for (Size budget = 0; budget <= 24; ++budget) {
          model::Scenario point;
          point.weights = &weights;
          point.machine = &machine;
          point.runtime = &model::runtime(engine);
          point.kv_precision = &precision("fp16");
          point.batch = batch;
          point.prompt_tokens = prompt;
          point.gpu_budget = Bytes(budget << 30);
          all.push_back(point);
        }
  return all;
}

void evaluate(benchmark::State& state, std::string_view name) {
  const auto model = sweep::resolve_model(name);
  const auto weights = model::hold(model, model::scheme("bf16"));
  const auto machine = parse_machine("rtx-4090", shipped_catalogue());
  const auto all = points(weights, machine);
  model::Evaluator evaluate_next;
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate_next(all[i]));
    if (++i == all.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(evaluate, dense_32_layers, "meta-llama/Meta-Llama-3.1-8B");
BENCHMARK_CAPTURE(evaluate, dense_80_layers, "meta-llama/Llama-3.3-70B-Instruct");
BENCHMARK_CAPTURE(evaluate, experts_and_windows, "openai/gpt-oss-20b");
BENCHMARK_CAPTURE(evaluate, latent_attention, "deepseek-ai/DeepSeek-V2.5");

/// Steps over batches, sequences and passes, in the order of a sweep.
void train(benchmark::State& state, std::string_view name, std::string_view runtime, Size stages) {
  const auto model = sweep::resolve_model(name);
  const auto plain = model::counted(model);
  const auto machine = parse_machine("8x h100-sxm-80gb", shipped_catalogue());
  model::TrainingScenario s;
  s.model = &model;
  s.plain = &plain;
  s.optimizer = &model::optimizer("adamw");
  s.runtime = &model::training_runtime(runtime);
  s.zero = 1;
  s.recipe = &model::usual_recipe(*s.runtime, s.zero, false);
  s.parallel.stages = stages;
  s.parallel.replicas = 8 / stages;
  std::vector<model::TrainingScenario> all;
  for (const Size accumulated : {8, 16})
    for (const Size batch : {2, 4, 8, 16})
      for (Size sequence = 512; sequence <= 8192; sequence += 512) {
        s.accumulated = accumulated, s.batch = batch, s.sequence = sequence;
        all.push_back(s);
      }
  model::TrainingEvaluator evaluate;
  const auto& pace = model::training_pace(s.runtime->name);
  std::size_t i = 0;
  for (auto _ : state) {
    const model::TrainingScenario& point = all[i];
    const auto memory = evaluate(point);
    auto outcome = model::outcome_of(point, memory, machine);
    model::put_time(outcome, model::time_of_step(point, evaluate.shape(), memory, machine, pace));
    benchmark::DoNotOptimize(outcome);
    if (++i == all.size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(train, dense_32_layers, "meta-llama/Meta-Llama-3.1-8B", "deepspeed", 1);
BENCHMARK_CAPTURE(train, dense_80_layers, "meta-llama/Llama-3.3-70B-Instruct", "deepspeed", 1);
BENCHMARK_CAPTURE(train, four_stages, "meta-llama/Meta-Llama-3.1-8B", "megatron", 4);

void explain(benchmark::State& state) {
  const auto model = sweep::resolve_model("meta-llama/Meta-Llama-3.1-8B");
  const auto weights = model::hold(model, model::scheme("bf16"));
  const auto machine = parse_machine("rtx-4090", shipped_catalogue());
  const auto point = points(weights, machine).back();
  for (auto _ : state) benchmark::DoNotOptimize(model::explain(point));
}
BENCHMARK(explain);

void make_every_model(benchmark::State& state) {
  Size parameters = 0, models = 0;
  for (auto _ : state)
    for (const auto& name : sweep::catalogue_models()) {
      parameters += sweep::resolve_model(name).profile.parameters;
      ++models;
    }
  benchmark::DoNotOptimize(parameters);
  state.SetItemsProcessed(models);
}
BENCHMARK(make_every_model)->Unit(benchmark::kMillisecond);

void hold(benchmark::State& state, std::string_view scheme) {
  const auto model = sweep::resolve_model("deepseek-ai/DeepSeek-V2.5");
  for (auto _ : state) benchmark::DoNotOptimize(model::hold(model, model::scheme(scheme)));
}
BENCHMARK_CAPTURE(hold, bf16, "bf16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(hold, q4_K_M, "q4_K_M")->Unit(benchmark::kMillisecond);

}  // namespace
