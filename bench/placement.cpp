// Placements per second. Cases are accelerate's exact map of a model, the closed form behind grid
// points in the order of a sweep, strategies, and the best placement.
#include "model/infer/placement/placement.hpp"

#include <benchmark/benchmark.h>

#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "model/answer/placement/best_placement.hpp"
#include "model/answer/placement/strategy.hpp"
#include "sweep/sources/source.hpp"

namespace {

using namespace headroom;
using namespace headroom::model;

constexpr std::string_view opt = "facebook/opt-30b";
constexpr std::string_view llama = "meta-llama/Llama-3.3-70B-Instruct";

MaxMemory budgets() {
  const std::vector<std::string> entries{"0=8GiB", "cpu=32GiB"};
  return parse_max_memory(entries);
}

/// Does the work that bench/peers/accelerate_maps.py times in accelerate, which receives the
/// model's modules too: sizes of all tensors in the type, then the walk.
void accelerate_map(benchmark::State& state, std::string_view name) {
  const auto model = sweep::resolve_model(name);
  const auto memory = budgets();
  const MapOptions options{.no_split = model.part.no_split};
  ModuleTree tree(model.part, std::nullopt);
  const auto dtype = mapper_dtype("float16");
  for (auto _ : state) {
    tree.measure(dtype);
    benchmark::DoNotOptimize(infer_device_map(tree, memory, options));
  }
}
BENCHMARK_CAPTURE(accelerate_map, opt_30b, opt)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(accelerate_map, llama_70b, llama)->Unit(benchmark::kMicrosecond);

/// The modules of a model, built once for all its maps.
void module_tree(benchmark::State& state, std::string_view name) {
  const auto model = sweep::resolve_model(name);
  for (auto _ : state) benchmark::DoNotOptimize(ModuleTree(model.part, std::nullopt));
}
BENCHMARK_CAPTURE(module_tree, opt_30b, opt)->Unit(benchmark::kMicrosecond);
BENCHMARK_CAPTURE(module_tree, llama_70b, llama)->Unit(benchmark::kMicrosecond);

/// Budget by budget, the fastest axis of a sweep.
void placement(benchmark::State& state, std::string_view name, std::string_view engine) {
  const auto model = sweep::resolve_model(name);
  const auto weights = quantise(model, scheme("bf16"));
  const auto machine = parse_machine("2x rtx-4090 @ dual-epyc-120gb", shipped_catalogue());
  Scenario point;
  point.weights = &weights;
  point.machine = &machine;
  point.runtime = &model::engine(engine);
  point.kv_precision = &precision("fp16");
  Size budget = 0;
  for (auto _ : state) {
    point.gpu_budget = Bytes(budget << 28);
    benchmark::DoNotOptimize(place(point, 1.0));
    if (++budget > 96) budget = 0;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK_CAPTURE(placement, opt_30b, opt, "transformers");
BENCHMARK_CAPTURE(placement, llama_70b, llama, "transformers");
BENCHMARK_CAPTURE(placement, llama_70b_llama_cpp, llama, "llama.cpp");
BENCHMARK_CAPTURE(placement, windows_and_experts, "openai/gpt-oss-20b", "transformers");
BENCHMARK_CAPTURE(placement, alternating_windows, "google/gemma-3-27b-it", "llama.cpp");

void best(benchmark::State& state, std::string_view name, std::string_view held,
          std::string_view engine) {
  const auto model = sweep::resolve_model(name);
  const auto weights = quantise(model, scheme(held));
  const auto machine = parse_machine("2x rtx-4090 @ dual-epyc-120gb", shipped_catalogue());
  Scenario point;
  point.weights = &weights;
  point.machine = &machine;
  point.runtime = &model::engine(engine);
  point.kv_precision = &precision("fp16");
  for (auto _ : state) benchmark::DoNotOptimize(best_placement(point));
}
BENCHMARK_CAPTURE(best, opt_30b, opt, "fp16", "transformers")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(best, llama_70b, llama, "bf16", "llama.cpp")->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(best, experts, "deepseek-ai/DeepSeek-V2.5", "q4_K_M", "llama.cpp")
    ->Unit(benchmark::kMillisecond);

void all_strategies(benchmark::State& state) {
  const auto model = sweep::resolve_model(opt);
  const auto weights = quantise(model, scheme("fp16"));
  const auto machine = parse_machine("rtx-4060 @ desktop-ddr4-32gb", shipped_catalogue());
  Scenario point;
  point.weights = &weights;
  point.machine = &machine;
  point.runtime = &engine("transformers");
  point.kv_precision = &precision("fp16");
  const ModuleTree tree = held_tree(weights);
  const MapOptions options{.no_split = model.part.no_split};
  for (auto _ : state) benchmark::DoNotOptimize(strategies(point, tree, Policy::plain, options));
}
BENCHMARK(all_strategies)->Unit(benchmark::kMillisecond);

}  // namespace
