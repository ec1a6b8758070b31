// Command lines of llama.cpp.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/checkpoint/text_only.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/scenario/draft.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "sweep/launch/draft_flags.hpp"
#include "sweep/launch/launch.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// Layers and the output by card, as llama.cpp divides them: by these shares, the output being one
/// more after the last layer.
std::string tensor_split(const LaunchPoint& point, const model::Plan& plan, bool output) {
  std::vector<Size> items;
  Size last = -1;
  for (const auto& use : point.explained.devices) {
    if (use.where != model::Where::card) continue;
    items.push_back(
        use.first_layer < 0 ? 0 : model::counted_layers(point.model(), plan.layers_of(use.card)));
    if (items.back() > 0) last = std::ssize(items) - 1;
  }
  if (output && last >= 0) ++items[static_cast<std::size_t>(last)];
  return fmt::format("{}", fmt::join(items, ","));
}

std::string vulkan_devices(int cards) {
  std::vector<std::string> names;
  for (int card = 0; card < cards; ++card) names.push_back(fmt::format("Vulkan{}", card));
  return fmt::format("{}", fmt::join(names, ","));
}

/// llama.cpp's two flags for the formats of keys and of values, where they are not 16 bit.
void add_cache_types(std::string_view flag, const model::Scenario& s, EngineCommand& command) {
  const model::CachePrecision kv = model::cache_precision(s);
  const auto add = [&](std::string_view part, const Precision& format) {
    if (format.name != "fp16")
      command.flag(fmt::format("{}-{}", flag, part), s.runtime->cache.format(format)->word);
  };
  add("k", *kv.keys);
  add("v", *kv.values);
}

/// A build of llama.cpp has the kernels of few pairs of formats unless it is asked for all.
/// Source: llama.cpp ggml-cuda/fattn.cu, ggml_cuda_get_best_fattn_kernel; issue 27109.
std::string cache_note(const model::Scenario& s) {
  const bool kernels_of_cuda = s.runtime->backend != model::Backend::vulkan &&
                               !s.machine->devices.empty() &&
                               s.machine->devices.front().vendor != "apple";
  if (!kernels_of_cuda || !model::cache_precision(s).differ()) return {};
  return "# Build llama.cpp with GGML_CUDA_FA_ALL_QUANTS: others compute attention over two "
         "formats on the CPU.\n";
}

/// Source: llama.cpp common/arg.cpp, common/speculative.cpp. n-grams of ngram-simple are as long as
/// what they propose.
void add_llama_cpp_draft(const LaunchPoint& point, EngineCommand& command) {
  const model::Scenario& s = point.scenario;
  const model::Draft& draft = *s.draft;
  command.flag("--spec-type", llama_cpp_draft_type(draft));
  const std::string tokens = std::to_string(draft.tokens);
  if (draft.proposer == model::Proposer::lookup)
    return command.flag("--spec-ngram-simple-size-m", tokens);
  command.flag("--spec-draft-n-max", tokens);
  if (draft.proposer != model::Proposer::modules) {
    command.flag("--spec-draft-model", gguf_file(*draft.weights));
    command.flag("--spec-draft-ngl", point.estimate().gpus_used > 0
                                         ? std::to_string(std::ssize(draft.weights->layer) + 1)
                                         : "0");
  }
  add_cache_types("--spec-draft-type", s, command);
}

/// Encoders see a prompt as a whole: it has to fit into one micro-batch. A classifier ranks texts.
/// Source: llama.cpp tools/server/README.md, --embedding and --reranking; pull request 7389.
void add_batch_sizes(const LaunchPoint& point, EngineCommand& command) {
  const model::Scenario& s = point.scenario;
  constexpr Size usual = 2048, usual_micro = 512;  // common/common.h: n_batch, n_ubatch
  Size micro = s.chunk_tokens;
  if (!point.model().writes()) {
    const bool ranks = point.model().architecture.ends_with("ForSequenceClassification") ||
                       point.model().use == "reranking";
    command.flag(ranks ? "--reranking" : "--embedding");
    if (s.prompt_tokens > std::max(micro, usual_micro)) micro = s.prompt_tokens;
  }
  if (micro > 0) command.flag(s.runtime->serving.chunk_option, std::to_string(micro));
  if (micro > usual) command.flag("--batch-size", std::to_string(micro));
}

/// A context beyond the model's positions. llama-server gives a slot no more of them than the file
/// states, unless YaRN is asked for, which multiplies their number. Source: llama.cpp
/// tools/server/server-context.cpp, n_ctx_slot(); pull request 28030.
void add_position_scaling(const model::Scenario& s, EngineCommand& command) {
  if (s.within_positions()) return;
  const double positions = static_cast<double>(s.weights->model->shape.positions);
  const double factor = std::ceil(100.0 * static_cast<double>(served_context(s)) / positions) / 100;
  command.flag("--rope-scaling", "yarn");
  command.flag("--rope-scale", fmt::format("{}", factor));
}

std::string position_note(const model::Scenario& s) {
  if (s.within_positions()) return {};
  return fmt::format(
      "# The model has {} positions. YaRN stretches them, in place of any scaling of its own: its\n"
      "# answers are not those that it was trained for.\n",
      s.weights->model->shape.positions);
}

/// convert_lora_to_gguf.py makes the files of adapters, convert_hf_to_gguf.py --mmproj that of a
/// tower.
void add_companions(const LaunchPoint& point, EngineCommand& command) {
  const model::Scenario& s = point.scenario;
  if (point.adapters != nullptr)
    for (Size i = 0; i < point.adapters->count; ++i)
      command.flag("--lora", shell_quoted(adapter_file(i) + ".gguf"));
  if (s.draft != nullptr) add_llama_cpp_draft(point, command);
  if (point.model().text_only) command.flag("--no-mmproj");
  if (model::has_towers(point.model()) &&  // the estimate counts them
      gguf_repository(*s.weights).empty())
    command.flag("--mmproj",
                 shell_quoted(fmt::format("mmproj-{}.gguf", short_model_name(point.model().name))));
}

}  // namespace

std::string llama_cpp_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const model::Estimate& e = point.estimate();
  const model::Plan plan = model::place(s, 1.0);
  const bool output = counts_output(s, plan);
  const Size offloaded = offloaded_layers(s, plan);
  EngineCommand command(*s.runtime, heading(point) + gguf_note(*s.weights) + cache_note(s) +
                                        position_note(s) + "exec llama-server");
  const std::string repository = gguf_repository(*s.weights);  // which has the tower as well
  if (repository.empty())
    command.flag("--model", gguf_file(*s.weights));
  else
    command.flag("--hf-repo", shell_quoted(repository));
  command.flag("--n-gpu-layers", std::to_string(offloaded));
  // A build for several back ends has each card once by each of them (common/arg.cpp: --device).
  if (s.runtime->backend == model::Backend::vulkan && e.gpus_used > 0)
    command.flag("--device", vulkan_devices(e.gpus_used));
  command.flag("--ctx-size", std::to_string(served_context(s) * s.batch));
  add_position_scaling(s, command);
  command.flag("--parallel", std::to_string(s.batch));
  add_batch_sizes(point, command);
  const auto is_given = [&](std::string_view flag) {
    return std::ranges::any_of(point.split, [&](const auto& each) { return each.first == flag; });
  };
  if (const auto mode = s.runtime->parallel.split_mode; !mode.empty()) {
    if (!is_given("split-mode")) command.flag("--split-mode", mode);
  } else if (e.gpus_used > 1 && !is_given("tensor-split")) {
    command.flag("--tensor-split", tensor_split(point, plan, output));
  }
  for (const auto& [name, value] : point.split)
    if (name != "gpu-layers" && name != "cpu-offload-gb")
      command.flag("--" + name, value.empty() ? value : as_argument(value));
  add_cache_types("--cache-type", s, command);
  // llama-context.cpp: quantised values need it.
  if (model::cache_precision(s).values->block_elements > 1 &&
      s.flash_attention == model::Override::engine_default)
    command.flag("--flash-attn", "on");
  if (s.flash_attention != model::Override::engine_default)
    command.flag("--flash-attn", s.flash_attention == model::Override::on ? "on" : "off");
  if (s.threads > 0) command.flag("--threads", std::to_string(s.threads));
  if (!s.maps_files) command.flag("--load-mode", "none");
  add_companions(point, command);
  return command.text();
}

}  // namespace headroom::sweep
