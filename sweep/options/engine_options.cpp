#include "sweep/options/engine_options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "model/infer/estimate.hpp"

namespace headroom::sweep {
namespace {

/// A back end of llama.cpp (docs/build.md), by the maker of the cards that it is for; empty: any.
struct BackendName {
  std::string_view name, vendor;
};
constexpr BackendName backends[] = {{"cuda", "nvidia"}, {"rocm", "amd"},    {"hip", "amd"},
                                    {"sycl", "intel"},  {"metal", "apple"}, {"vulkan", ""}};

/// The row of the engine that is built for the back end. One of the maker's own is what a row
/// stands for that says nothing of back ends.
const model::Engine& built_for(const Options& options, const Engines& engines, bool on_machine,
                               const model::Scenario& s) {
  const model::Engine& runtime = *s.runtime;
  std::vector<std::string_view> names;
  for (const BackendName& each : backends) names.push_back(each.name);
  const std::string name = options.one_of("backend", names, "");
  const auto& chosen = *std::ranges::find(backends, name, &BackendName::name);
  const bool shaders = runtime.backend == model::Backend::vulkan;
  if (!shaders && runtime.with_vulkan.empty())
    throw UsageError(
        fmt::format("--backend is an option of llama.cpp and llama.cpp-b3120; the runtime is {}",
                    runtime.name));
  if (!on_machine || s.machine->devices.empty())
    throw UsageError(
        fmt::format("--backend has no effect without a {}", on_machine ? "GPU" : "machine"));
  if (chosen.vendor.empty()) return shaders ? runtime : engines.named(runtime.with_vulkan);
  if (shaders)
    throw UsageError(fmt::format("--backend {}: {} is built for vulkan", name, runtime.name));
  for (const Device& card : s.machine->devices) {
    if (card.vendor == chosen.vendor) continue;
    const auto own =
        std::ranges::find(backends, std::string_view(card.vendor), &BackendName::vendor);
    throw UsageError(
        fmt::format("--backend {}: {} has {}vulkan", name, card.name,
                    own == std::end(backends) ? "" : fmt::format("{} and ", own->name)));
  }
  return runtime;
}

/// The row of the engine that divides each matrix between the cards, if --split-mode asks for it.
const model::Engine& divided_by(const Options& options, const Engines& engines, bool on_machine,
                                const model::Scenario& s) {
  const model::Engine& runtime = *s.runtime;
  const std::string mode = options.text("split-mode");
  const bool is_layered = mode == "layer" || mode == "row" || mode == "none";
  if (runtime.with_divided_matrices.empty() || is_layered) return runtime;
  const model::Engine& divided = engines.named(runtime.with_divided_matrices);
  if (mode != divided.parallel.split_mode)
    throw UsageError(fmt::format("--split-mode: found '{}', expected layer, row, none or {}", mode,
                                 divided.parallel.split_mode));
  if (!on_machine || s.machine->devices.size() < 2)
    throw UsageError(fmt::format("--split-mode {} has no effect without several cards", mode));
  return divided;
}

UsageError not_of(std::string_view flag, std::string_view engines, const model::Engine& runtime) {
  return UsageError(
      fmt::format("--{} is an option of {}; the runtime is {}", flag, engines, runtime.name));
}

model::Override flash_attention(const Options& options, const model::Scenario& s) {
  static constexpr std::string_view words[] = {"on", "off"};
  const bool on = options.one_of("flash-attn", words, "on") == "on";
  if (s.runtime->kernels.flash == model::FlashAttention::always ||
      s.runtime->kernels.flash == model::FlashAttention::never)
    throw not_of("flash-attn", "llama.cpp (its shaders before b4283 have none)", *s.runtime);
  // llama-context.cpp: V cache quantization requires flash_attn.
  const Precision* values = s.kv_precision.values;
  if (!on && values != nullptr && values->block_elements > 1)
    throw UsageError(fmt::format("--flash-attn off: values in {} need it", values->name));
  return on ? model::Override::on : model::Override::off;
}

void require_sequences(const model::Engine& runtime) {
  if (runtime.memory.start_pass.sequences == 0) throw not_of("max-num-seqs", "vllm", runtime);
}

/// The sizes of an engine's passes.
void set_pass(const Options& options, bool on_machine, model::Scenario& s) {
  const auto size = [&](std::string_view flag) {
    if (!on_machine) throw UsageError(fmt::format("--{} has no effect without a machine", flag));
    return options.whole(flag, 1);
  };
  if (options.given("max-num-seqs")) {
    require_sequences(*s.runtime);
    s.max_sequences = size("max-num-seqs");
  }
  if (options.given("max-num-batched-tokens")) {
    if (s.runtime->serving.chunk_option.empty())
      throw not_of("max-num-batched-tokens", "vllm from 0.8 on, sglang, llama.cpp and mlx-lm",
                   *s.runtime);
    s.chunk_tokens = size("max-num-batched-tokens");
  }
}

}  // namespace

void set_sequences(const Options& options, const Engines& engines, model::Scenario& s) {
  if (!options.given("max-num-seqs")) return;
  if (options.given("runtime")) require_sequences(engines.named(options.text("runtime")));
  s.max_sequences = options.whole("max-num-seqs", 1);
}

void set_engine(const Options& options, const Engines& engines, bool on_machine,
                model::Scenario& s) {
  if (options.given("backend")) s.runtime = &built_for(options, engines, on_machine, s);
  if (options.given("split-mode")) s.runtime = &divided_by(options, engines, on_machine, s);
  if (options.given("flash-attn")) s.flash_attention = flash_attention(options, s);
  if (options.given("threads")) {
    if (s.runtime->offload.mode != model::Offload::compute)
      throw not_of("threads", "llama.cpp and ktransformers", *s.runtime);
    if (!on_machine) throw UsageError("--threads has no effect without a machine");
    s.threads = options.whole("threads", 0);
  }
  if (options.given("no-mmap")) {
    if (s.runtime->offload.mode != model::Offload::compute || !s.runtime->offload.disk)
      throw not_of("no-mmap", "llama.cpp", *s.runtime);
    if (!on_machine) throw UsageError("--no-mmap has no effect without a machine");
    s.maps_files = false;
  }
  if (options.given("gpu-batches")) {
    if (!s.runtime->offload.batch_in_parts) throw not_of("gpu-batches", "flexgen", *s.runtime);
    s.batch_parts = options.whole("gpu-batches", 1);
    if (s.batch_parts < 1 || s.batch % s.batch_parts != 0)
      throw UsageError(fmt::format("--gpu-batches {}: {} sequences are no multiple of it",
                                   s.batch_parts, s.batch));
  }
  if (options.given("enforce-eager")) {
    if (!s.runtime->kernels.graphs)
      throw not_of("enforce-eager", "vllm, sglang and tensorrt-llm", *s.runtime);
    if (!on_machine) throw UsageError("--enforce-eager has no effect without a machine");
    s.enforce_eager = true;
  }
  set_pass(options, on_machine, s);
}

}  // namespace headroom::sweep
