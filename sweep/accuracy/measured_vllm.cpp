// The JSON of vLLM's benchmark of serving.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sweep/accuracy/measured_file.hpp"

namespace headroom::sweep {
namespace {

std::string text_of_field(const Fields& object, std::string_view key) {
  const auto it = object.find(key);
  return it == object.end() ? std::string() : it->second;
}

std::optional<double> number_field(const Fields& object, std::string_view key) {
  const auto value = leading_number(text_of_field(object, key));
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
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
  const auto completed = number_field(object, "completed");
  const auto prompts = completed ? completed : number_field(object, "num_prompts");
  const auto input = number_field(object, "total_input_tokens");
  const auto output = number_field(object, "total_output_tokens");
  auto users = number_field(object, "max_concurrency");
  if (!users) users = number_field(object, "concurrency");
  if (!prompts || !input || !output || !users)
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
    if (!value) return;
    const bool rate = scale == 0;
    all.push_back(measurement_of({{"model", reference_of(model, defaults)},
                                  {"precision", vllm_precision(defaults)},
                                  {"runtime", "vllm"},
                                  {"batch", whole(*users)},
                                  {"prompt_tokens", whole(*input / *prompts)},
                                  {"output_tokens", whole(*output / *prompts)},
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
