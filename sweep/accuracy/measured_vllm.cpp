// The JSON of vLLM's benchmark of serving.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>

#include "sweep/accuracy/measured_file.hpp"

namespace headroom::sweep {
namespace {

std::string text_of_field(const Fields& object, std::string_view key) {
  const auto it = object.find(key);
  return it == object.end() ? std::string() : it->second;
}

/// Nothing where the key is absent. Throws std::runtime_error for another thing than a number.
std::optional<double> number_field(const Fields& object, std::string_view key) {
  if (!object.contains(key)) return std::nullopt;
  const std::string text = text_of_field(object, key);
  const auto value = leading_number(text);
  if (!value || !std::isfinite(*value) || *value < 0)
    throw std::runtime_error(
        fmt::format("key '{}': found '{}', expected a number from 0 on", key, text));
  return value;
}

/// Requests that generate text, as vLLM's server takes them. The benchmark can send those of other
/// servers too. Source: vLLM 0.12 benchmarks/lib/endpoint_request_func.py, ASYNC_REQUEST_FUNCS, and
/// serve.py, which writes endpoint_type; before 0.10 benchmark_serving.py wrote backend.
void require_vllm(const Fields& object) {
  constexpr std::string_view known[] = {"vllm", "openai", "openai-chat"};
  std::string found;
  for (const char* key : {"backend", "endpoint_type"}) {
    if (!object.contains(key)) continue;
    found = text_of_field(object, key);
    if (std::ranges::find(known, found) == std::end(known))
      throw std::runtime_error(
          fmt::format("key '{}': found '{}', expected {}", key, found, fmt::join(known, ", ")));
  }
  if (found.empty())
    throw std::runtime_error(
        fmt::format("names no server; expected a key 'backend' or 'endpoint_type' of {}",
                    fmt::join(known, ", ")));
}

/// vLLM holds a checkpoint as it is.
std::string vllm_precision(const RowDefaults& defaults) {
  return defaults.precision.empty() ? "auto" : defaults.precision;
}

}  // namespace

bool is_vllm_benchmark(const Fields& object) {
  return object.contains("mean_ttft_ms") && object.contains("output_throughput");
}

std::vector<Measurement> vllm_benchmark_rows(const Fields& object, const RowDefaults& defaults) {
  require_vllm(object);
  for (const char* key : {"num_prompts", "duration"}) number_field(object, key);
  const auto prompts =
      number_field(object, object.contains("completed") ? "completed" : "num_prompts");
  const auto input = number_field(object, "total_input_tokens");
  const auto output = number_field(object, "total_output_tokens");
  auto users = number_field(object, "max_concurrency");
  if (!users) users = number_field(object, "concurrency");
  const auto none = [](std::optional<double> count) { return count.value_or(0) == 0; };
  if (none(prompts) || none(input) || none(output) || none(users))
    throw std::runtime_error(
        "needs completed (or num_prompts), total_input_tokens, total_output_tokens and "
        "max_concurrency, each above 0; without them the number of concurrent requests is unknown "
        "(vllm bench serve --max-concurrency N)");
  const std::string model =
      defaults.model.empty() ? text_of_field(object, "model_id") : defaults.model;
  if (model.empty()) throw std::runtime_error("names no model_id; give --model");
  const auto whole = [](double value) { return fmt::format("{}", std::llround(value)); };
  std::vector<Measurement> all;
  const auto add = [&](std::string group, std::string figure, std::string_view key, double scale) {
    const auto value = number_field(object, key);
    if (none(value)) return;
    const bool rate = scale == 0;
    const std::string requests = figure == "serving_first" ? whole(*prompts) : "";
    all.push_back(measurement_of({{"model", reference_of(model, defaults)},
                                  {"precision", vllm_precision(defaults)},
                                  {"runtime", "vllm"},
                                  {"batch", whole(*users)},
                                  {"prompt_tokens", whole(*input / *prompts)},
                                  {"output_tokens", whole(*output / *prompts)},
                                  {"requests", requests},
                                  {"group", std::move(group)},
                                  {"figure", std::move(figure)},
                                  {"form", rate ? "rate_of_output" : "amount"},
                                  {"unit", rate ? "tokens/s" : "s"},
                                  {"value", fmt::format("{}", rate ? *value : *value * scale)}}));
  };
  add("serving_ttft", "serving_first", "mean_ttft_ms", 1e-3);
  add("serving_tpot", "serving_step", "mean_tpot_ms", 1e-3);
  add("serving_throughput", "serving_rate", "output_throughput", 0);
  return all;
}

}  // namespace headroom::sweep
