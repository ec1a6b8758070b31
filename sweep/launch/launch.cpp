#include "sweep/launch/launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "hardware/quantity_text.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "sweep/launch/kinds.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/advice_words.hpp"
#include "sweep/screen/verdict_text.hpp"
#include "sweep/screen/watch.hpp"

namespace headroom::sweep {
namespace {

constexpr LaunchKind kinds_table[] = {
    {"transformers", "load.py", "transformers", "Python: max_memory or device_map, offload folder",
     true, transformers_script},
    {"transformers-8bit", "load_8bit.py", "transformers", "loads in 8 bit with bitsandbytes", false,
     transformers_8bit_script, "int8"},
    {"llama.cpp", "llama_cpp.sh", "llama.cpp", "llama-server with its layers on cards", true,
     llama_cpp_script},
    {"ollama", "ollama.sh", "ollama", "a Modelfile, then ollama create and run", false,
     ollama_script},
    {"lm-studio", "lm_studio.sh", "lm-studio", "lms load with its share of layers and context",
     false, lm_studio_script},
    {"mlx-lm", "mlx_lm.sh", "mlx-lm", "mlx_lm.convert where needed, then mlx_lm.server", false,
     mlx_script},
    {"vllm", "vllm.sh", "vllm", "vllm serve with its parallelism and limits", true, vllm_script},
    {"sglang", "sglang.sh", "sglang", "sglang.launch_server with its parallelism and limits", true,
     sglang_script},
    {"tensorrt-llm", "tensorrt_llm.sh", "tensorrt-llm",
     "trtllm-serve with its parallelism and limits, and a file of further options", false,
     tensorrt_llm_script},
    {"exllamav3", "tabby_api.sh", "exllamav3", "TabbyAPI with its cache and context", false,
     tabby_api_script},
    {"ktransformers", "ktransformers.sh", "ktransformers",
     "the server of KTransformers with experts on the CPU", false, ktransformers_script},
    {"kt-kernel", "kt_kernel.sh", "kt-kernel", "SGLang with kt-kernel's experts on the CPU", false,
     kt_kernel_script},
    {"deepspeed-inference", "deepspeed_inference.json", "deepspeed-inference",
     "deepspeed.init_inference's config", false, deepspeed_inference},
    {"deepspeed-zero3", "deepspeed_zero3.json", "zero-inference",
     "ZeRO stage 3 with parameters offloaded", false, deepspeed_zero3},
    {"slurm", "job.sbatch", "", "a batch job that asks for the cards, cores and memory", true,
     slurm_script},
    {"measure", "measure.sh", "", "runs a command and compares its peak with the estimate", true,
     measure_script},
};

}  // namespace

std::span<const LaunchKind> launch_kinds() { return kinds_table; }

const LaunchKind* kind_of(const model::Engine& runtime) {
  for (const std::string_view name : {runtime.series, runtime.family}) {
    const auto* kind = std::ranges::find(kinds_table, name, &LaunchKind::runtime);
    if (kind != std::end(kinds_table)) return kind;
  }
  return nullptr;
}

const LaunchKind& launch_kind(std::string_view name) {
  return kind_named(kinds_table, "kind", name);
}

std::string python_quoted(std::string_view text) {
  return boost::json::serialize(boost::json::value(text));
}

std::string start_command(const LaunchPoint& point) {
  const LaunchKind* kind = kind_of(*point.scenario.runtime);
  if (kind == nullptr || kind->file.ends_with(".json")) return {};
  kind->write(point);  // throws where there is no such file
  return fmt::format("{} {}", kind->file.ends_with(".py") ? "python3" : "sh", kind->file);
}

std::string test_plan(std::span<const PlannedTest> tests) {
  std::vector<const PlannedTest*> graded;
  for (const PlannedTest& test : tests) graded.push_back(&test);
  std::ranges::stable_sort(
      graded, {}, [](const PlannedTest* test) { return test->point.scenario.weights->total; });
  std::string text = fmt::format(
      "# Test plan on {}\n\nFrom small to large: go on when a step does what is expected. The "
      "memory of each card is to be within the interval of the estimate.\n",
      graded.front()->point.scenario.machine->name);
  Size step = 1;
  for (const PlannedTest* each : graded) {
    const LaunchPoint& p = each->point;
    const model::Estimate& e = p.estimate();
    text += fmt::format("\n## {}. {} in {}\n\n", step++, p.model().name, p.scheme().name);
    if (e.verdict >= model::Verdict::does_not_fit) {
      text += fmt::format("Skip this model here: {} ({}). {}\n", model::name_of(e.verdict),
                          model::name_of(e.reason), advice_words(p.explained.advice));
      continue;
    }
    text += fmt::format("* verdict: {}\n", verdict_text(p.scenario, e));
    for (const auto& use : p.explained.devices)
      if (use.total > Bytes(0))
        text += fmt::format("* {}: {}{}\n", use.name, to_text(use.total),
                            use.layers.empty() ? "" : ", layers " + use.layers);
    text += fmt::format("* most loaded card: {} to {}\n", to_text(e.gpu_bytes_low),
                        to_text(e.gpu_bytes_high));
    text += fmt::format("* ready after {}, first token after {}, then {}\n",
                        duration(e.load.value()), duration(e.ttft.value()), p.rate_words());
    text += fmt::format("* start: `{}`\n", each->command);
    for (const std::string& line : watch_lines(p.scenario, p.explained))
      text += fmt::format("* watch: {}\n", line);
  }
  return text;
}

}  // namespace headroom::sweep
