// Command lines of llama.cpp, vLLM and SGLang.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "hardware/quantity_text.hpp"
#include "model/checkpoint/text_only.hpp"
#include "model/engine/default_cache.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/placement/asked_sequences.hpp"
#include "model/infer/scenario/draft.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "sweep/launch/checkpoint.hpp"
#include "sweep/launch/draft_flags.hpp"
#include "sweep/launch/launch.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

/// Placeholder for the file of adapter `i`, from 0 on. The user puts the real path there.
std::string adapter_file(Size i) { return fmt::format("adapter-{}", i + 1); }

/// Layers and the output by card, as llama.cpp divides them: by these shares, the output being one
/// more after the last layer.
std::string tensor_split(const LaunchPoint& point, const model::Plan& plan, bool output) {
  std::vector<Size> items;
  Size last = -1;
  for (const auto& use : point.explained.devices) {
    if (use.kind != "gpu") continue;
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

/// llama.cpp's two flags for the format of keys and values, if that is not 16 bit.
void add_cache_types(std::string_view flag, const model::Scenario& s, EngineCommand& command) {
  const Precision& kv = model::cache_precision(s);
  if (kv.name == "fp16") return;
  for (const auto* part : {"k", "v"})
    command.flag(fmt::format("{}-{}", flag, part), s.runtime->cache.format(kv)->word);
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

/// "name=path" of each adapter, as words.
std::string adapter_paths(const LaunchPoint& point) {
  std::vector<std::string> words;
  for (Size i = 0; i < point.adapters->count; ++i)
    words.push_back(shell_quoted(fmt::format("{0}=./{0}", adapter_file(i))));
  return fmt::format("{}", fmt::join(words, " "));
}

/// Nothing where the engine takes the format by itself. Throws std::invalid_argument where the
/// engine keeps its cache as it computes, and that is not what was estimated.
void add_cache_format(const LaunchPoint& point, EngineCommand& command) {
  const model::Scenario& s = point.scenario;
  const Precision& kv = model::cache_precision(s);
  const Precision& taken = model::default_cache(*s.weights, *s.runtime);
  const model::CacheFormat* format = s.runtime->cache.format(kv);
  if (!format->word.empty()) {
    if (&kv != &taken) command.flag("--kv-cache-dtype", format->word);
    return;
  }
  const bool computes_in_fp32 = point.scheme().name == "fp32";
  if (computes_in_fp32 != (kv.name == "fp32"))
    throw std::invalid_argument(
        fmt::format("{} keeps keys and values as it computes: --kv-precision {} with {} weights",
                    s.runtime->name, computes_in_fp32 ? "fp32" : "fp16", point.scheme().name));
  if (taken.element_bytes() < kv.element_bytes())
    command.flag("--kv-cache-dtype", torch_type(point.scheme()));
}

/// The engine's word for the scheme that it makes of the checkpoint while it loads; empty: it loads
/// a checkpoint of that scheme.
std::string_view made_word(const LaunchPoint& point) {
  const model::Scheme& held = model::scheme(point.model().checkpoint_scheme);
  if (held.family != model::SchemeFamily::plain) return {};
  return point.scenario.runtime->weights.word_of_made(point.scheme().name);
}

/// Memory that the engine may use on each card, as a share.
std::string share_of_card(const model::Scenario& s) {
  const double share = budget_of_card(s) / usable_memory(s.machine->devices.front()).real();
  return fmt::format("{:.3g}", std::floor(1000 * share + 0.01) / 1000);
}

/// Share of the memory that is free at start for weights and caches, so that the process keeps
/// within its budget.
std::string static_share_of_card(const model::Scenario& s, const model::Plan& plan) {
  double share = model::static_share(s, plan.shards, plan.stages);
  const Bytes memory = usable_memory(s.machine->devices.front());
  if (s.gpu_budget < memory) {
    const model::CardUse use = card_use(s, plan, plan.first_used_card);
    const Bytes others = use.total() - use.pooled(*s.runtime);
    share = std::clamp((s.gpu_budget - others).real() / (memory - use.context).real(), 0.0, share);
  }
  return fmt::format("{:.3g}", share);
}

}  // namespace

std::string llama_cpp_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const model::Estimate& e = point.estimate();
  const model::Plan plan = model::place(s, 1.0);
  const bool output = plan.head == model::Where::card;
  const Size offloaded = offloaded_layers(s, plan);
  EngineCommand command(*s.runtime, heading(point) + gguf_note(*s.weights) + "exec llama-server");
  const std::string repository = gguf_repository(*s.weights);  // which has the tower as well
  if (repository.empty())
    command.flag("--model", gguf_file(*s.weights));
  else
    command.flag("--hf-repo", shell_quoted(repository));
  command.flag("--n-gpu-layers", std::to_string(offloaded));
  // A build for several back ends has each card once by each of them (common/arg.cpp: --device).
  if (s.runtime->backend == model::Backend::vulkan && e.gpus_used > 0)
    command.flag("--device", vulkan_devices(e.gpus_used));
  command.flag("--ctx-size", std::to_string(s.cached_tokens() * s.batch));
  command.flag("--parallel", std::to_string(s.batch));
  command.chunk(s);
  constexpr Size usual = 2048;  // common/common.h: n_batch, which no micro-batch exceeds
  if (s.chunk_tokens > usual) command.flag("--batch-size", std::to_string(s.chunk_tokens));
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
  if (model::cache_precision(s).block_elements > 1 &&
      s.flash_attention == model::Override::engine_default)
    command.flag("--flash-attn", "on");
  if (s.flash_attention != model::Override::engine_default)
    command.flag("--flash-attn", s.flash_attention == model::Override::on ? "on" : "off");
  if (s.threads > 0) command.flag("--threads", std::to_string(s.threads));
  add_companions(point, command);
  return command.text();
}

std::string vllm_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const std::string_view made = made_word(point);
  const Checkpoint checkpoint(point, !made.empty());
  EngineCommand command(
      *s.runtime, heading(point) + checkpoint.note() + "exec vllm serve " + checkpoint.word());
  const auto flag = [&](std::string_view name, std::string_view value) {
    command.flag(name, value);
  };
  if (point.scheme().family == model::SchemeFamily::plain)
    flag("--dtype", torch_type(point.scheme()));
  if (!made.empty()) flag("--quantization", made);
  const model::Plan split = split_of(point);
  flag("--tensor-parallel-size", std::to_string(split.shards));
  if (split.stages > 1) flag("--pipeline-parallel-size", std::to_string(split.stages));
  if (split.replicas > 1) flag("--data-parallel-size", std::to_string(split.replicas));
  if (split.expert_groups > 1) command.flag("--enable-expert-parallel");
  flag("--max-model-len", std::to_string(s.cached_tokens()));
  if (s.enforce_eager) command.flag("--enforce-eager");
  if (const Size sequences = model::sequences_to_ask_for(s); sequences > 0)
    flag("--max-num-seqs", std::to_string(sequences));
  command.chunk(s);
  flag("--gpu-memory-utilization", share_of_card(s));
  add_cache_format(point, command);
  for (const auto& [name, value] : point.split)
    if (name == "cpu-offload-gb") flag("--" + name, shell_quoted(value));
  if (point.adapters != nullptr) {
    command.flag("--enable-lora");
    flag("--max-loras", std::to_string(point.adapters->count));
    flag("--max-lora-rank", std::to_string(point.adapters->request.rank));
    flag("--lora-modules", adapter_paths(point));
  }
  if (s.draft != nullptr) flag("--speculative-config", shell_quoted(vllm_draft(*s.draft)));
  if (point.model().text_only) command.flag("--language-model-only");
  if (s.images.count > 0)
    flag("--limit-mm-per-prompt", shell_quoted(fmt::format(R"({{"image": {}}})", s.images.count)));
  return command.text();
}

/// Options: SGLang 0.5 server_arguments.md, lora.ipynb, speculative_decoding.ipynb.
std::string sglang_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const std::string_view made = made_word(point);
  const Checkpoint checkpoint(point, !made.empty());
  EngineCommand command(
      *s.runtime, heading(point) + checkpoint.note() + "exec python3 -m sglang.launch_server");
  command.flag("--model-path", checkpoint.word());
  if (point.scheme().family == model::SchemeFamily::plain)
    command.flag("--dtype", torch_type(point.scheme()));
  if (!made.empty())
    command.flag(made == "bitsandbytes" ? "--load-format" : "--quantization", made);
  const model::Plan split = split_of(point);
  command.flag("--tp-size", std::to_string(split.shards));
  if (split.stages > 1) command.flag("--pp-size", std::to_string(split.stages));
  if (split.replicas > 1) command.flag("--dp-size", std::to_string(split.replicas));
  if (split.expert_groups > 1) command.flag("--ep-size", std::to_string(split.expert_groups));
  command.flag("--context-length", std::to_string(s.cached_tokens()));
  command.flag("--max-running-requests", std::to_string(s.batch));
  command.chunk(s);
  if (s.enforce_eager) command.flag("--disable-cuda-graph");
  command.flag("--mem-fraction-static", static_share_of_card(s, split));
  add_cache_format(point, command);
  if (point.adapters != nullptr) {
    command.flag("--enable-lora");
    command.flag("--max-loras-per-batch", std::to_string(point.adapters->count));
    command.flag("--max-lora-rank", std::to_string(point.adapters->request.rank));
    command.flag("--lora-paths", adapter_paths(point));
  }
  if (s.draft != nullptr) add_sglang_draft(*s.draft, command);
  if (point.model().text_only) command.flag("--language-model-only");
  if (s.images.count > 0)
    command.flag("--limit-mm-data-per-request",
                 shell_quoted(fmt::format(R"({{"image": {}}})", s.images.count)));
  return command.text();
}

}  // namespace headroom::sweep
