#include "sweep/options/server_words.hpp"

#include <algorithm>

namespace headroom::sweep {
namespace {

struct Left {
  std::string_view spelling;
  Takes takes;
};

/// Options of vLLM 0.33 (engine/arg_utils.py, entrypoints/openai), SGLang 0.5.23 (srt/arg_groups),
/// llama.cpp's server (common/arg.cpp) and TensorRT-LLM's (commands/serve.py). They change neither
/// memory nor speed.
constexpr Left without_effect[] = {{"--jinja", Takes::nothing},
                                   {"--no-jinja", Takes::nothing},
                                   {"--port", Takes::one},
                                   {"--host", Takes::one},
                                   {"--api-key", Takes::one},
                                   {"--served-model-name", Takes::many},
                                   {"--alias", Takes::one},
                                   {"--trust-remote-code", Takes::nothing},
                                   {"--enable-auto-tool-choice", Takes::nothing},
                                   {"--tool-call-parser", Takes::one},
                                   {"--reasoning-parser", Takes::one},
                                   {"--reasoning-format", Takes::one},
                                   {"--reasoning-budget", Takes::one},
                                   {"--chat-template", Takes::one},
                                   {"--chat-template-file", Takes::one},
                                   {"--chat-template-kwargs", Takes::one},
                                   {"--temp", Takes::one},
                                   {"--temperature", Takes::one},
                                   {"--top-p", Takes::one},
                                   {"--top-k", Takes::one},
                                   {"--min-p", Takes::one},
                                   {"--repeat-penalty", Takes::one},
                                   {"--presence-penalty", Takes::one},
                                   {"--seed", Takes::one},
                                   {"--random-seed", Takes::one},
                                   {"--metrics", Takes::nothing},
                                   {"--enable-metrics", Takes::nothing},
                                   {"--no-webui", Takes::nothing},
                                   {"--no-ui", Takes::nothing},
                                   {"--download-dir", Takes::one},
                                   {"--revision", Takes::one},
                                   {"--tokenizer", Takes::one},
                                   {"--tokenizer-path", Takes::one},
                                   {"--tokenizer-mode", Takes::one},
                                   {"--generation-config", Takes::one},
                                   {"--override-generation-config", Takes::one},
                                   {"--disable-log-requests", Takes::nothing},
                                   {"--disable-log-stats", Takes::nothing},
                                   {"--enable-log-requests", Takes::nothing},
                                   {"--uvicorn-log-level", Takes::one},
                                   {"--log-level", Takes::one},
                                   {"--log-file", Takes::one},
                                   {"--verbose", Takes::nothing},
                                   {"--distributed-executor-backend", Takes::one},
                                   {"--custom-tokenizer", Takes::one},
                                   {"--num-postprocess-workers", Takes::one},
                                   {"--model-name", Takes::one}};

/// Left out of a pasted command, though they may change memory or speed. The answer names them.
constexpr Left not_described[] = {{"--enable-prefix-caching", Takes::nothing},
                                  {"--no-enable-prefix-caching", Takes::nothing},
                                  {"--disable-radix-cache", Takes::nothing},
                                  {"--enable-chunked-prefill", Takes::nothing},
                                  {"--async-scheduling", Takes::nothing},
                                  {"--limit-mm-per-prompt", Takes::one},
                                  {"--load-format", Takes::one},
                                  {"--schedule-policy", Takes::one},
                                  {"--attention-backend", Takes::one},
                                  {"--max-running-requests", Takes::one},
                                  {"--max-batch-size", Takes::one},
                                  {"--max-num-tokens", Takes::one},
                                  {"--kv-cache-free-gpu-memory-fraction", Takes::one},
                                  {"--free-gpu-memory-fraction", Takes::one},
                                  {"--max-beam-width", Takes::one},
                                  {"--extra-llm-api-options", Takes::one},
                                  {"--config", Takes::one},
                                  {"--backend", Takes::one}};

/// Options of llama.cpp's server whose letters mean something else here, or that limit nothing.
constexpr Left of_llama_cpp_alone[] = {{"-b", Takes::one},
                                       {"--batch-size", Takes::one},
                                       {"-n", Takes::one},
                                       {"--predict", Takes::one},
                                       {"--n-predict", Takes::one},
                                       {"-cb", Takes::nothing},
                                       {"--cont-batching", Takes::nothing},
                                       {"--mmproj", Takes::one},
                                       {"-a", Takes::one},
                                       {"--slots", Takes::nothing},
                                       {"-v", Takes::nothing}};

template <std::size_t N>
const Left* row(const Left (&rows)[N], std::string_view spelling) {
  const auto found = std::ranges::find(rows, spelling, &Left::spelling);
  return found == std::end(rows) ? nullptr : found;
}

}  // namespace

std::optional<LeftOut> left_out_of(std::string_view runtime, std::string_view spelling) {
  const Left* found = row(without_effect, spelling);
  if (found == nullptr && runtime == "llama.cpp") found = row(of_llama_cpp_alone, spelling);
  if (found != nullptr) return LeftOut{found->takes, true};
  found = row(not_described, spelling);
  if (found == nullptr) return std::nullopt;
  return LeftOut{found->takes, false};
}

bool changes_no_estimate(std::string_view spelling) {
  return row(without_effect, spelling) != nullptr;
}

}  // namespace headroom::sweep
