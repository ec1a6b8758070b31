// What vLLM says of a run: the JSON of its benchmark of serving, and the log of its start.
#include <fmt/format.h>

#include <cmath>
#include <optional>

#include "sweep/measured_file.hpp"

namespace headroom::sweep {
namespace {

std::string field(const Fields& object, std::string_view key) {
  const auto it = object.find(key);
  return it == object.end() ? std::string() : it->second;
}

std::optional<double> number(const Fields& object, std::string_view key) {
  const auto value = leading_number(field(object, key));
  return value && std::isfinite(*value) && *value > 0 ? value : std::nullopt;
}

/// vLLM holds a checkpoint as it is.
std::string precision_of(const RowDefaults& defaults) {
  return defaults.precision.empty() ? "auto" : defaults.precision;
}

/// What follows `key` up to one of `ends`; empty where `key` is not there.
std::string_view after(std::string_view text, std::string_view key, std::string_view ends) {
  const auto at = text.find(key);
  if (at == std::string_view::npos) return {};
  text.remove_prefix(at + key.size());
  return text.substr(0, text.find_first_of(ends));
}

}  // namespace

bool is_vllm_benchmark(const Fields& object) {
  return object.contains("mean_ttft_ms") && object.contains("output_throughput");
}

std::vector<Measurement> vllm_benchmark_rows(const Fields& object, const RowDefaults& defaults) {
  const auto completed = number(object, "completed");
  const auto prompts = completed ? completed : number(object, "num_prompts");
  const auto input = number(object, "total_input_tokens");
  const auto output = number(object, "total_output_tokens");
  auto users = number(object, "max_concurrency");
  if (!users) users = number(object, "concurrency");
  if (!prompts || !input || !output || !users)
    throw std::runtime_error(
        "needs completed (or num_prompts), total_input_tokens, total_output_tokens and "
        "max_concurrency, each above 0: how many requests are at once is not known otherwise "
        "(vllm bench serve --max-concurrency N)");
  const std::string model = defaults.model.empty() ? field(object, "model_id") : defaults.model;
  if (model.empty()) throw std::runtime_error("names no model_id; --model says which");
  const auto whole = [](double value) { return fmt::format("{}", std::llround(value)); };
  std::vector<Measurement> all;
  const auto add = [&](std::string quantity, std::string unit, std::string_view key) {
    const auto value = number(object, key);
    if (!value) return;
    all.push_back(measurement_of({{"category", "decode_speed"},
                                  {"model", model},
                                  {"precision", precision_of(defaults)},
                                  {"task", "serving"},
                                  {"batch", whole(*users)},
                                  {"prompt_len", whole(*input / *prompts)},
                                  {"output_len", whole(*output / *prompts)},
                                  {"settings", "framework=vllm"},
                                  {"quantity", std::move(quantity)},
                                  {"unit", std::move(unit)},
                                  {"value", fmt::format("{}", *value)},
                                  {"grade", "A"}}));
  };
  add("ttft", "ms", "mean_ttft_ms");
  add("tpot", "ms", "mean_tpot_ms");
  add("output_throughput", "tokens/s", "output_throughput");
  return all;
}

bool is_vllm_log(std::string_view text) {
  return text.find("vllm") != std::string_view::npos &&
         (text.find("odel loading took") != std::string_view::npos ||
          text.find("oading model weights took") != std::string_view::npos);
}

std::vector<Measurement> vllm_log_rows(std::string_view text, const RowDefaults& defaults,
                                       std::vector<std::string>& notes) {
  std::string model = defaults.model;
  if (model.empty()) model = after(text, "model='", "'");
  if (model.empty()) model = after(text, "model=\"", "\"");
  if (model.empty())
    throw std::runtime_error(
        "a log without the line of the engine's configuration (model='…'); --model says which");
  std::string_view took = after(text, "odel loading took ", "\n");
  if (took.empty()) took = after(text, "oading model weights took ", "\n");
  const auto unit = took.find(' ');
  const auto bytes = leading_number(took.substr(0, unit));
  const std::string_view tensors = after(text, "tensor_parallel_size=", ", \n");
  if (!bytes || *bytes <= 0)
    throw std::runtime_error("no size of the weights in the line \"Model loading took …\"");
  notes.emplace_back(
      "of the log, the weights of a card are read: they check the model and its precision, and fit "
      "nothing");
  return {measurement_of(
      {{"category", "inference_memory"},
       {"model", model},
       {"precision", precision_of(defaults)},
       {"task", "inference"},
       {"batch", "1"},
       {"prompt_len", "1"},
       {"output_len", "1"},
       {"settings", fmt::format("framework=vllm;tp={}", tensors.empty() ? "1" : tensors)},
       {"gpu_count", std::string(tensors.empty() ? "1" : tensors)},
       {"quantity", "gpu0_weights_memory"},
       {"unit", "GiB"},
       {"value", fmt::format("{}", *bytes)},
       {"grade", "A"}})};
}

}  // namespace headroom::sweep
