// Points per second and core of evaluate(), by kind of model. Also the set-up before the first
// point: reading a config, describing the model and quantising its weights.
#include <benchmark/benchmark.h>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "model/answer/explain.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/evaluator.hpp"
#include "model/train/outcome.hpp"
#include "model/train/rank.hpp"
#include "model/train/shape.hpp"
#include "model/train/time.hpp"
#include "sweep/sources/source.hpp"

namespace {

using namespace headroom;

/// The axes of a sweep, in its order.
struct Axes {
  std::vector<const char*> precisions{"bf16"}, engines{"transformers", "llama.cpp"};
  const char* machine = "rtx-4090";
  std::vector<Size> batches{1, 4, 16}, prompts{512, 4096};
  std::vector<Size> budgets{};  ///< GiB; empty: the whole memory
  bool loaded = false;          ///< the batch is a number of concurrent requests
};

std::vector<Size> up_to(Size last, Size step) {
  std::vector<Size> all;
  for (Size n = step; n <= last; n += step) all.push_back(n);
  return all;
}

/// A grid and the data that its scenarios point to.
class Points {
 public:
  Points(const std::vector<const char*>& models, const Axes& axes)
      : machine_(parse_machine(axes.machine, shipped_catalogue())) {
    for (const char* name : models) {
      models_.push_back(std::make_unique<model::Model>(sweep::resolve_model(name)));
      for (const char* precision : axes.precisions) {
        weights_.push_back(std::make_unique<model::QuantisedModel>(
            model::quantise(*models_.back(), model::scheme(precision))));
        for (const char* engine : axes.engines) add(*weights_.back(), engine, axes);
      }
    }
  }
  const std::vector<model::Scenario>& all() const { return all_; }

 private:
  void add(const model::QuantisedModel& weights, const char* engine, const Axes& axes) {
    model::Scenario point;
    point.weights = &weights;
    point.machine = &machine_;
    point.runtime = &model::engine(engine);
    point.kv_precision = &precision("fp16");
    for (const Size batch : axes.batches)
      for (const Size prompt : axes.prompts) {
        point.batch = batch;
        point.concurrency = axes.loaded ? batch : 0;
        point.prompt_tokens = prompt;
        if (axes.budgets.empty()) all_.push_back(point);
        for (const Size budget : axes.budgets) {
          all_.push_back(point);
          all_.back().gpu_budget = Bytes(budget << 30);
        }
      }
  }

  Machine machine_;
  std::vector<std::unique_ptr<model::Model>> models_;
  std::vector<std::unique_ptr<model::QuantisedModel>> weights_;
  std::vector<model::Scenario> all_;
};

void evaluate_all(benchmark::State& state, const std::vector<const char*>& models,
                  const Axes& axes) {
  const Points points(models, axes);
  model::Evaluator evaluate_next;
  std::size_t i = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(evaluate_next(points.all()[i]));
    if (++i == points.all().size()) i = 0;
  }
  state.SetItemsProcessed(state.iterations());
}

/// Many budgets, which share a placement's terms.
void evaluate(benchmark::State& state, const char* name) {
  Axes axes{.budgets = up_to(24, 1)};
  axes.budgets.insert(axes.budgets.begin(), 0);
  evaluate_all(state, {name}, axes);
}
/// Many batches and prompts, one budget.
void one_budget(benchmark::State& state, const char* name) {
  evaluate_all(state, {name},
               {.engines = {"transformers", "llama.cpp", "vllm"},
                .batches = up_to(16, 1),
                .prompts = up_to(8192, 512)});
}
/// With tensor-parallel cards, as few as the model needs, and under load.
void eight_cards(benchmark::State& state, const char* name) {
  evaluate_all(state, {name},
               {.engines = {"vllm"},
                .machine = "8x h100-sxm-80gb",
                .batches = up_to(16, 1),
                .prompts = up_to(8192, 512)});
}
void under_load(benchmark::State& state, const char* name) {
  evaluate_all(state, {name},
               {.engines = {"vllm"},
                .machine = "8x h100-sxm-80gb",
                .batches = up_to(16, 1),
                .prompts = up_to(8192, 512),
                .loaded = true});
}
BENCHMARK_CAPTURE(evaluate, dense_32_layers, "meta-llama/Meta-Llama-3.1-8B");
BENCHMARK_CAPTURE(evaluate, dense_80_layers, "meta-llama/Llama-3.3-70B-Instruct");
BENCHMARK_CAPTURE(evaluate, experts_and_windows, "openai/gpt-oss-20b");
BENCHMARK_CAPTURE(evaluate, latent_attention, "deepseek-ai/DeepSeek-V2.5");
BENCHMARK_CAPTURE(one_budget, dense_32_layers, "meta-llama/Meta-Llama-3.1-8B");
BENCHMARK_CAPTURE(one_budget, dense_80_layers, "meta-llama/Llama-3.3-70B-Instruct");
BENCHMARK_CAPTURE(one_budget, experts_and_windows, "openai/gpt-oss-20b");
BENCHMARK_CAPTURE(one_budget, latent_attention, "deepseek-ai/DeepSeek-V2.5");
BENCHMARK_CAPTURE(eight_cards, dense_32_layers, "meta-llama/Meta-Llama-3.1-8B");
BENCHMARK_CAPTURE(eight_cards, dense_80_layers, "meta-llama/Llama-3.3-70B-Instruct");
BENCHMARK_CAPTURE(eight_cards, experts_and_windows, "openai/gpt-oss-20b");
BENCHMARK_CAPTURE(eight_cards, latent_attention, "deepseek-ai/DeepSeek-V2.5");
BENCHMARK_CAPTURE(under_load, dense_32_layers, "meta-llama/Meta-Llama-3.1-8B");
BENCHMARK_CAPTURE(under_load, dense_80_layers, "meta-llama/Llama-3.3-70B-Instruct");
BENCHMARK_CAPTURE(under_load, experts_and_windows, "openai/gpt-oss-20b");
BENCHMARK_CAPTURE(under_load, latent_attention, "deepseek-ai/DeepSeek-V2.5");

/// A few sizes of many models in many precisions.
void many_models(benchmark::State& state) {
  evaluate_all(
      state,
      {"meta-llama/Meta-Llama-3.1-8B", "meta-llama/Llama-3.3-70B-Instruct", "openai/gpt-oss-20b",
       "deepseek-ai/DeepSeek-V2.5", "Qwen/Qwen3-30B-A3B", "google/gemma-3-27b-it"},
      {.precisions = {"bf16", "q4_K_M", "nf4", "awq-int4", "q8_0", "fp8"},
       .engines = {"transformers", "llama.cpp", "vllm"},
       .batches = {1, 8, 32},
       .prompts = {512, 8192}});
}
BENCHMARK(many_models);

/// Training steps over batches, sequences and passes, in the order of a sweep.
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
  s.recipe = &model::usual_recipe(*s.runtime, s.zero, model::Trained::weights);
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

/// A point that needs the CPU, so that there is something to advise.
void explain(benchmark::State& state, model::WithAdvice with_advice) {
  const Points points({"meta-llama/Meta-Llama-3.1-8B"}, {});
  for (auto _ : state) benchmark::DoNotOptimize(model::explain(points.all().back(), with_advice));
}
BENCHMARK_CAPTURE(explain, terms, model::WithAdvice::no)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(explain, terms_and_advice, model::WithAdvice::yes)->Unit(benchmark::kMicrosecond);

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

void quantise(benchmark::State& state, std::string_view scheme) {
  const auto model = sweep::resolve_model("deepseek-ai/DeepSeek-V2.5");
  for (auto _ : state) benchmark::DoNotOptimize(model::quantise(model, model::scheme(scheme)));
}
BENCHMARK_CAPTURE(quantise, bf16, "bf16")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(quantise, q4_K_M, "q4_K_M")->Unit(benchmark::kMillisecond);

}  // namespace
