// Command lines of llama.cpp and vLLM.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "model/placement/placement.hpp"
#include "sweep/launch/launch.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// "#!/bin/sh" and what is expected, as comments.
std::string heading(const LaunchPoint& point) {
  const model::Estimate& e = point.estimate();
  return fmt::format(
      "#!/bin/sh\n# {} in {} on {}: {} (sure: {}).\n# Expected on the most loaded card: {} ({} to "
      "{}); {:.3g} tokens/s.\n",
      point.model().name, point.scheme().name, point.scenario.machine->name,
      model::name_of(e.verdict), model::name_of(e.sure), to_text(e.gpu_bytes),
      to_text(e.gpu_bytes_low), to_text(e.gpu_bytes_high), e.tokens_s);
}

/// Layers and the output by card, as llama.cpp divides them: by these shares, the output being one
/// more after the last layer.
std::string tensor_split(const LaunchPoint& point, bool output) {
  std::vector<Size> items;
  Size last = -1;
  for (const auto& use : point.explained.devices) {
    if (use.kind != "gpu") continue;
    items.push_back(use.first_layer < 0 ? 0 : use.last_layer - use.first_layer + 1);
    if (items.back() > 0) last = std::ssize(items) - 1;
  }
  if (output && last >= 0) ++items[static_cast<std::size_t>(last)];
  return fmt::format("{}", fmt::join(items, ","));
}

/// The last part of "org/name".
std::string_view short_name(const std::string& name) {
  return std::string_view(name).substr(name.find('/') + 1);
}

}  // namespace

std::string llama_cpp_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const model::Estimate& e = point.estimate();
  // The output counts as one more.
  const model::Plan plan = model::place(s, 1.0);
  const bool output = plan.head == model::Where::card;
  const Size offloaded = plan.on_cards.size() + (output ? 1 : 0);
  std::string text = heading(point) + "exec llama-server";
  const auto flag = [&](std::string_view name, const std::string& value) {
    text += fmt::format(" \\\n  {} {}", name, value);
  };
  flag("--model", shell_quoted(fmt::format("{}-{}.gguf", short_name(point.model().name),
                                           point.scheme().name)));
  flag("--n-gpu-layers", std::to_string(offloaded));
  flag("--ctx-size", std::to_string(s.cached_tokens() * s.batch));
  flag("--parallel", std::to_string(s.batch));
  const auto given = [&](std::string_view name) {
    return std::ranges::any_of(point.split, [&](const auto& each) { return each.first == name; });
  };
  if (e.gpus_used > 1 && !given("tensor-split"))
    flag("--tensor-split", tensor_split(point, output));
  for (const auto& [name, value] : point.split)
    if (name != "gpu-layers" && name != "cpu-offload-gb")
      flag("--" + name, value.empty() ? value : shell_quoted(value));
  if (s.kv_precision->name != "fp16" && s.kv_precision->name != "bf16") {
    const std::string held =
        s.kv_precision->name == "fp32" ? "f32" : std::string(s.kv_precision->name);
    flag("--cache-type-k", held);
    flag("--cache-type-v", held);
  }
  return text + '\n';
}

std::string vllm_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const model::Estimate& e = point.estimate();
  std::string text = heading(point) + "exec vllm serve " + shell_quoted(point.model().name);
  const auto flag = [&](std::string_view name, const std::string& value) {
    text += fmt::format(" \\\n  {} {}", name, value);
  };
  const model::SchemeFamily family = point.scheme().family;
  if (family == model::SchemeFamily::plain)
    flag("--dtype", point.scheme().name == "fp32"   ? "float32"
                    : point.scheme().name == "fp16" ? "float16"
                                                    : "bfloat16");
  if (family == model::SchemeFamily::bitsandbytes) flag("--quantization", "bitsandbytes");
  if (family == model::SchemeFamily::fp8 && point.scheme().name != point.model().checkpoint_scheme)
    flag("--quantization", "fp8");
  const Size stages = std::max<Size>(1, s.pipeline_parallel);
  flag("--tensor-parallel-size", std::to_string(std::max<Size>(1, e.gpus_used / stages)));
  if (stages > 1) flag("--pipeline-parallel-size", std::to_string(stages));
  flag("--max-model-len", std::to_string(s.cached_tokens()));
  flag("--max-num-seqs", std::to_string(s.batch));
  const double share = s.gpu_budget == model::all_of_it
                           ? s.runtime->utilization
                           : s.gpu_budget.real() / s.machine->devices.front().memory.real();
  flag("--gpu-memory-utilization", fmt::format("{:.3g}", std::min(1.0, share)));
  if (s.kv_precision->name.starts_with("fp8")) flag("--kv-cache-dtype", "fp8");
  for (const auto& [name, value] : point.split)
    if (name == "cpu-offload-gb") flag("--" + name, shell_quoted(value));
  return text + '\n';
}

}  // namespace headroom::sweep
