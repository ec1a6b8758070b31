// The command line and options file of TensorRT-LLM's server, PyTorch backend.
#include <fmt/format.h>

#include <algorithm>

#include "model/engine/default_cache.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/cache_format.hpp"
#include "sweep/launch/checkpoint.hpp"
#include "sweep/launch/script.hpp"
#include "sweep/output.hpp"

namespace headroom::sweep {
namespace {

constexpr std::string_view options_file = "tensorrt_llm.yaml";

/// Share of the memory that is free beside weights and working memory, which the cache may fill so
/// that the process keeps within its budget.
std::string free_share_of_card(const model::Scenario& s, const model::Plan& plan) {
  const Bytes memory = usable_memory(s.machine->devices.front());
  const model::CardUse use = card_use(s, plan, plan.first_used_card);
  const RealBytes others = (use.total() - use.kv_cache).real();
  const double share = (budget_of_card(s) - others) / (memory.real() - others);
  return fmt::format("{:.3g}", std::clamp(share, 0.0, 1.0));
}

/// The word for the cache's format; empty: the engine takes it by itself. Throws
/// std::invalid_argument for a format that the engine cannot be asked for.
/// Source: TensorRT-LLM 1.3 _torch/pyexecutor/model_loader.py, validate_and_set_kv_cache_quant.
std::string_view cache_word(const model::Scenario& s) {
  const Precision& kv = *model::cache_precision(s).keys;
  const Precision& taken = model::default_cache(*s.weights, *s.runtime);
  const std::string_view word = s.runtime->cache.format(kv)->word;
  if (&kv == &taken || (word.empty() && s.runtime->cache.format(taken)->word.empty())) return {};
  if (s.runtime->cache.format(taken)->word.empty()) return word;
  throw std::invalid_argument(fmt::format(
      "the checkpoint has its KV cache in {}, which {} does not change: --kv-precision {}",
      taken.name, s.runtime->name, taken.name));
}

/// Lines of the YAML file: settings without an option. Source: TensorRT-LLM 1.3 llmapi/llm_args.py,
/// TorchLlmArgs; _torch/model_config.py computes in the configuration's torch_dtype.
std::string options_of(const LaunchPoint& point, std::string_view cache_share) {
  const model::Scenario& s = point.scenario;
  std::string text;
  if (point.scheme().family == model::SchemeFamily::plain &&
      point.scheme().name != point.model().checkpoint_scheme)
    text += fmt::format("model_kwargs:\n  torch_dtype: {}\n", torch_type(point.scheme()));
  if (const std::string_view word = cache_word(s);
      !word.empty())  // early versions replace it whole
    text += fmt::format("kv_cache_config:\n  dtype: {}\n  free_gpu_memory_fraction: {}\n", word,
                        cache_share);
  if (s.enforce_eager) text += "cuda_graph_config: null\n";
  return text;
}

}  // namespace

/// Options: TensorRT-LLM 1.3 commands/serve.py.
std::string tensorrt_llm_script(const LaunchPoint& point) {
  const model::Scenario& s = point.scenario;
  const model::Plan split = split_of(point);
  if (split.replicas > 1)
    throw std::invalid_argument("trtllm-serve starts one copy of the model: --dp 1");
  const Checkpoint checkpoint(point, false);
  const std::string share = free_share_of_card(s, split), options = options_of(point, share);
  std::string text = heading(point) + checkpoint.note();
  if (!options.empty()) text += fmt::format("cat >{} <<'END'\n{}END\n", options_file, options);
  // Source: TensorRT-LLM 1.3 docs commands/trtllm-serve, "Multi-node Serving with Slurm".
  const Boxes boxes = boxes_of(point);
  if (boxes.several())
    text += fmt::format("# srun starts this once for each card, {} in each of {} boxes.\n",
                        boxes.cards, boxes.count);
  EngineCommand command(
      *s.runtime,
      text + (boxes.several() ? "exec trtllm-llmapi-launch trtllm-serve " : "exec trtllm-serve ") +
          checkpoint.word());
  command.flag("--backend", "pytorch");
  command.flag("--tp_size", std::to_string(split.shards));
  if (split.stages > 1) command.flag("--pp_size", std::to_string(split.stages));
  if (split.expert_groups > 1) command.flag("--ep_size", std::to_string(split.expert_groups));
  command.flag("--max_batch_size", std::to_string(s.batch));
  const Size tokens = std::max(model::prefill_chunk(s), s.batch);
  command.flag("--max_num_tokens", std::to_string(tokens));
  if (s.prompt_tokens > tokens) command.flag("--enable_chunked_prefill");
  command.flag("--max_seq_len", std::to_string(s.cached_tokens()));
  command.flag("--kv_cache_free_gpu_memory_fraction", share);
  if (!options.empty()) command.flag("--extra_llm_api_options", options_file);
  return command.text();
}

}  // namespace headroom::sweep
