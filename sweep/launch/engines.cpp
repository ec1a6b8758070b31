// Command lines of vLLM and SGLang.
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
#include "sweep/launch/checkpoint.hpp"
#include "sweep/launch/draft_flags.hpp"
#include "sweep/launch/launch.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

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
  const Precision& kv = *model::cache_precision(s).keys;
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

/// The first box serves requests, and the others only compute.
constexpr std::string_view headless_others =
    "headless=\n[ \"$NODE_RANK\" = 0 ] || headless=--headless\n";

/// Source: vLLM 0.33 docs/serving/parallelism_scaling.md, "Running vLLM with MultiProcessing"; pull
/// request 23691: the ranks of data parallelism follow from the box's.
void add_vllm_boxes(const Boxes& boxes, EngineCommand& command) {
  command.flag("--nnodes", std::to_string(boxes.count));
  command.flag("--node-rank", "\"$NODE_RANK\"");
  command.flag("--master-addr", "\"$MASTER_ADDR\"");
  command.flag("--distributed-executor-backend", "mp");
  command.flag("$headless");
}

/// Source: SGLang 0.5 docs/references/multi_node_deployment; server_args.py: no data parallelism
/// over boxes without that of attention.
void add_sglang_boxes(const Boxes& boxes, const model::Plan& split, EngineCommand& command) {
  if (split.replicas > split.sharing())
    throw std::invalid_argument(
        "SGLang's --dp-size stays in one box: start one server for each copy, and its router");
  constexpr int port = 20000;
  command.flag("--nnodes", std::to_string(boxes.count));
  command.flag("--node-rank", "\"$NODE_RANK\"");
  command.flag("--dist-init-addr", fmt::format("\"$MASTER_ADDR:{}\"", port));
}

/// Memory that the engine may use on each card, as a share.
std::string share_of_card(const model::Scenario& s) {
  const double share = budget_of_card(s) / usable_memory(s.machine->devices.front()).real();
  return fmt::format("{:.3g}", std::floor(1000 * share + 0.01) / 1000);
}

/// Share of the memory that is free at start for weights and caches, so that the process keeps
/// within its budget.
std::string static_share_of_card(const model::Scenario& s, const model::Plan& plan) {
  double share = model::static_share(s, plan.grid());
  const Bytes memory = usable_memory(s.machine->devices.front());
  if (s.gpu_budget < memory) {
    const model::CardUse use = card_use(s, plan, plan.first_used_card);
    const Bytes others = use.total() - use.pooled_weights(*s.runtime) - use.kv_cache;
    share = std::clamp((s.gpu_budget - others).real() / (memory - use.context).real(), 0.0, share);
  }
  return fmt::format("{:.3g}", share);
}

}  // namespace

std::string vllm_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const Boxes boxes = boxes_of(point);
  const std::string_view made = made_word(point);
  const Checkpoint checkpoint(point, !made.empty());
  EngineCommand command(*s.runtime, heading(point) + checkpoint.note() + boxes_note(boxes) +
                                        std::string(boxes.several() ? headless_others : "") +
                                        "exec vllm serve " + checkpoint.word());
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
  if (boxes.several()) add_vllm_boxes(boxes, command);
  flag("--max-model-len", std::to_string(served_context(s)));
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
  const Boxes boxes = boxes_of(point);
  const std::string_view made = made_word(point);
  const Checkpoint checkpoint(point, !made.empty());
  EngineCommand command(*s.runtime, heading(point) + checkpoint.note() + boxes_note(boxes) +
                                        "exec python3 -m sglang.launch_server");
  command.flag("--model-path", checkpoint.word());
  if (point.scheme().family == model::SchemeFamily::plain)
    command.flag("--dtype", torch_type(point.scheme()));
  if (!made.empty())
    command.flag(made == "bitsandbytes" ? "--load-format" : "--quantization", made);
  const model::Plan split = split_of(point);
  const model::CardGrid grid = split.grid();
  command.flag("--tp-size", std::to_string(grid.tensor_cards()));
  if (split.stages > 1) command.flag("--pp-size", std::to_string(split.stages));
  if (split.replicas > 1) command.flag("--dp-size", std::to_string(split.replicas));
  if (grid.sharing > 1) command.flag("--enable-dp-attention");
  if (split.expert_groups > 1) command.flag("--ep-size", std::to_string(split.expert_groups));
  if (boxes.several()) add_sglang_boxes(boxes, split, command);
  command.flag("--context-length", std::to_string(served_context(s)));
  // Both are of all replicas of the attention together (server_args.py, pool_configurator.py).
  command.flag("--max-running-requests", std::to_string(s.batch * grid.sharing));
  command.chunk(s, grid.sharing);
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
