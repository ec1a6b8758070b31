#include "sweep/subject.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "hardware/names.hpp"

namespace headroom::sweep {
namespace {

using model::Scenario;
using model::Split;

/// How a quantity of the tables is made from a time or a size.
enum class Form {
  amount,          ///< the figure itself
  rate_of_prompt,  ///< prompt tokens of all sequences per second
  rate_of_output,  ///< output tokens of all sequences per second
  rate_of_both,
  per_output,    ///< seconds per output token of one sequence
  per_sequence,  ///< the same, divided by the sequences at once
};
struct Quantity {
  std::string_view name;
  Statistic statistic;
  Form form = Form::amount;
  std::size_t index = 0;
};
using enum Statistic;
constexpr auto quantities = std::to_array<Quantity>(
    {{"max_memory_allocated_total", allocated_peak},
     {"max_gpu_memory", allocated_peak},
     {"gpu_memory_total", allocated_peak},
     // no trace of the prompt's activations in these tables: not a peak
     {"gpu_memory", allocated_held},
     {"vram_used", card_used},
     {"weights_size", Statistic::weights},
     {"gpu0_weights_memory", card_weights, Form::amount, 0},
     {"gpu1_weights_memory", card_weights, Form::amount, 1},
     {"cpu_weights_memory", host_weights},
     {"ram_used", host_used},
     {"dram_used", host_used},
     {"decode_speed", step, Form::rate_of_output},
     {"decode_speed_end_to_end", generation, Form::rate_of_output},
     {"tokens_per_s_generated_incl_prefill", generation, Form::rate_of_output},
     {"tokens_per_s_prompt_plus_generated", generation, Form::rate_of_both},
     {"gen_throughput_incl_prefill", generation, Form::rate_of_output},
     {"gen_throughput", generation, Form::rate_of_output},
     {"output_throughput_total", generation, Form::rate_of_output},
     {"output_throughput", generation, Form::rate_of_output},
     {"time_per_token", generation, Form::per_output},
     {"time_per_token_per_sequence", generation, Form::per_sequence},
     {"tpot", step},
     {"ttft", Statistic::prefill},
     {"prefill_speed", Statistic::prefill, Form::rate_of_prompt},
     {"prefill_time", Statistic::prefill},
     {"model_load_time", load}});

const Quantity& quantity_of(const Measurement& row) {
  for (const Quantity& each : quantities)
    if (each.name == row["quantity"]) return each;
  throw Skipped(Skip::statistic, fmt::format("quantity '{}'", row["quantity"]));
}

/// Bytes or seconds of one unit of the figure.
double scale_of(const Measurement& row, const Engine& engine) {
  const std::string& unit = row["unit"];
  if (unit == "GB") return engine.gigabyte;
  if (unit == "GiB") return 1073741824.0;
  if (unit == "MB" || unit == "MiB") return 1048576.0;
  if (unit == "bytes") return 1.0;
  if (unit == "ms") return 1e-3;
  if (unit == "s" || unit == "s/token" || unit == "tokens/s") return 1.0;
  throw Skipped(Skip::statistic, fmt::format("unit '{}'", unit));
}

bool one_digit(const std::string& value) {
  const auto first = value.find_first_of("123456789");
  if (first == std::string::npos) return true;
  std::size_t digits = 0;
  for (std::size_t i = first; i < value.size() && value[i] != 'e'; ++i) digits += value[i] != '.';
  return digits < 2 && value.find('.') != std::string::npos;
}

/// Seconds of the statistic, from the figure as published.
double seconds(const Quantity& quantity, double value, const Scenario& s) {
  const auto prompt = static_cast<double>(s.batch * s.prompt_tokens);
  const auto output = static_cast<double>(s.batch * s.output_tokens);
  // A rate of decode alone is of one step, in which each sequence gets a token.
  if (quantity.statistic == step && quantity.form == Form::rate_of_output)
    return static_cast<double>(s.batch) / value;
  switch (quantity.form) {
    case Form::amount:
      return value;
    case Form::rate_of_prompt:
      return prompt / value;
    case Form::rate_of_output:
      return output / value;
    case Form::rate_of_both:
      return (prompt + output) / value;
    case Form::per_output:
      return value * static_cast<double>(s.output_tokens);
    case Form::per_sequence:
      return value * output;
  }
  return value;
}

std::string time_group(const Measurement& row, const Quantity& quantity, const Scenario& s) {
  if (quantity.statistic == load) return "load_time";
  if (row["category"] == "offload_speed" && !row["task"].starts_with("serving"))
    return s.runtime->offload == model::Offload::stream ? "offload_streamed" : "offload_partial";
  if (row["quantity"] == "tpot") return "serving_tpot";
  if (row["quantity"] == "ttft") return "serving_ttft";
  if (row["task"].starts_with("serving")) return "serving_throughput";
  if (quantity.statistic == Statistic::prefill) return "prefill";
  if (s.machine->devices.size() <= 1) return "decode_single";
  return s.runtime->split == Split::layers ? "decode_layer_split" : "decode_tensor_parallel";
}

Size tokens(const Measurement& row, std::string_view column, std::string_view setting,
            int fallback) {
  if (const auto value = row.number(column)) return static_cast<Size>(std::llround(*value));
  if (const auto text = row.setting(setting))
    if (const auto value = leading_number(*text)) return static_cast<Size>(*value);
  return fallback;
}

/// The first of `keys` that the settings give as a number.
std::optional<double> figure(const Measurement& row, std::initializer_list<std::string_view> keys) {
  for (const auto key : keys)
    if (const auto text = row.setting(key))
      if (const auto value = leading_number(*text)) return value;
  return std::nullopt;
}

const Precision& kv_precision_of(const Measurement& row) {
  std::string name = row.setting("kv").value_or(row.setting("kv_dtype").value_or(""));
  for (const auto& [key, value] : row.settings)
    if (value.empty() && key.ends_with(" kv")) name = key.substr(0, key.size() - 3);
  if (name.empty() || lower(name) == "f16") name = "fp16";
  if (name == "4 bit") name = "q4_0";
  try {
    return precision(name);
  } catch (const UnknownName& e) {
    throw Skipped(Skip::precision, e.what());
  }
}

void refuse_features(const Measurement& row) {
  if (const auto mtp = row.setting("mtp"); mtp && *mtp != "off")
    throw Skipped(Skip::feature, "speculative decoding");
  if (row.setting("no_kv_offload").value_or("0") != "0")
    throw Skipped(Skip::feature, "the cache in host memory");
  if (lower(row.setting("framework").value_or("")).find("6 experts") != std::string::npos ||
      row.setting("experts").value_or("8") != "8")
    throw Skipped(Skip::feature, "fewer experts than the model uses");
}

}  // namespace

bool is_memory(Statistic statistic) { return statistic < step; }

const model::Weights& Subjects::weights(const model::Model& model, const model::Scheme& scheme) {
  const auto key = std::pair(&model, &scheme);
  const auto it = weights_.find(key);
  return it != weights_.end() ? it->second
                              : weights_.emplace(key, hold(model, scheme)).first->second;
}

const Machine& Subjects::machine(Machine machine) {
  machines_.push_back(std::make_unique<Machine>(std::move(machine)));
  return *machines_.back();
}

Machine Subjects::machine_for(const Measurement& row, bool memory_alone) {
  try {
    return machine_of(row);
  } catch (const Skipped& unknown) {
    if (!memory_alone || unknown.reason != Skip::device) throw;
    return any_machine(static_cast<int>(row.number("gpu_count").value_or(1)));
  }
}

Scenario Subjects::scenario(const Measurement& row, const Engine& engine, bool memory_alone) {
  if (row["grade"] == "C") throw Skipped(Skip::grade, "");
  refuse_features(row);
  Scenario s;
  s.runtime = &model::runtime(engine.runtime);
  const model::Model& model = names_.model(row["model"]);
  s.weights = &weights(model, scheme_of(row, model, *s.runtime));
  if (!s.weights->refusal.empty()) throw Skipped(Skip::precision, s.weights->refusal);
  s.machine = &machine(machine_for(row, memory_alone));
  s.kv_precision = &kv_precision_of(row);
  if (!row["batch"].empty() && !row.number("batch"))
    throw Skipped(Skip::setting, "batch is '" + row["batch"] + "'");
  s.batch = tokens(row, "batch", "batch", 1);
  const auto cards = static_cast<Size>(s.machine->devices.size());
  if (s.runtime->split == Split::tensors && cards > 0) {
    const auto pipeline = static_cast<Size>(figure(row, {"pp"}).value_or(1));
    s.pipeline_parallel = std::clamp<Size>(pipeline, 1, cards);
    s.tensor_parallel =
        static_cast<Size>(figure(row, {"tp", "tensor_parallel"})
                              .value_or(static_cast<double>(cards / s.pipeline_parallel)));
  }
  return s;
}

Subject Subjects::subject(const Measurement& row) {
  if (row["category"].starts_with("training") || row["task"].starts_with("training"))
    throw Skipped(Skip::task, "training");
  Subject subject{.row = &row, .scenario = {}, .group = {}};
  if (row["grade"] == "C") throw Skipped(Skip::grade, "");
  const Quantity& quantity = quantity_of(row);
  const Engine& engine = engine_of(row);
  subject.statistic = quantity.statistic;
  subject.index = quantity.index;
  if (subject.statistic == card_used && engine.allocator) subject.statistic = allocated_peak;
  const auto value = row.number("value");
  if (!value || *value <= 0)
    throw Skipped(Skip::statistic, fmt::format("value '{}'", row["value"]));
  if (!is_memory(quantity.statistic) && one_digit(row["value"]))
    throw Skipped(Skip::digits, row["value"]);
  const bool used = quantity.statistic < Statistic::card_weights;
  Scenario& s = subject.scenario = scenario(row, engine, used);
  const bool no_tokens = quantity.statistic == Statistic::weights || quantity.statistic == load;
  const Size prompt = tokens(row, "prompt_len", "prompt_len", engine.prompt_tokens);
  const Size output = tokens(row, "output_len", "max_new_tokens", engine.output_tokens);
  if (!no_tokens && quantity.statistic != card_weights && quantity.statistic != host_weights) {
    if (row["prompt_len"].empty() && engine.prompt_tokens == 0)
      throw Skipped(Skip::setting, "the prompt's tokens");
    if (quantity.statistic == generation && output == 0)
      throw Skipped(Skip::setting, "the output's tokens");
  }
  s.prompt_tokens = std::max<Size>(prompt, 1);
  s.output_tokens = std::max<Size>(output, 1);
  if (const auto context = figure(row, {"ctx", "n_ctx"})) s.context = static_cast<Size>(*context);
  if (s.context < s.prompt_tokens + s.output_tokens) s.context = 0;
  const double scaled = *value * scale_of(row, engine);
  subject.measured = is_memory(subject.statistic) ? scaled : seconds(quantity, scaled, s);
  subject.group = is_memory(subject.statistic) ? "inference_memory" : time_group(row, quantity, s);
  if (subject.statistic == load && s.machine->host.disk_read.value() <= 0)
    throw Skipped(Skip::setting, "the disk's speed");
  return subject;
}

Scenario Subjects::labelled(const Measurement& row) {
  if (row["kind"] != "inference") throw Skipped(Skip::task, row["kind"]);
  if (row["grade"] == "C") throw Skipped(Skip::grade, "");
  const Engine& engine = engine_of(row);
  Scenario s = scenario(row, engine, false);
  if (const auto share = figure(row, {"utilisation"}); share && !s.machine->devices.empty())
    s.gpu_budget =
        Bytes(static_cast<Size>(*share * s.machine->devices.front().memory.real().value()));
  const Size context = tokens(row, "context", "n_ctx", 0);
  s.output_tokens = std::max<Size>(tokens(row, "output_len", "output_len", 0), 1);
  s.prompt_tokens = tokens(row, "prompt_len", "input_len", 0);
  if (context > 0) {
    s.context = context;
    if (s.prompt_tokens == 0) s.prompt_tokens = context - s.output_tokens;
  }
  if (s.prompt_tokens == 0) s.prompt_tokens = engine.prompt_tokens;
  if (s.context == 0 && engine.output_tokens > 0) s.output_tokens = engine.output_tokens;
  s.prompt_tokens = std::max<Size>(s.prompt_tokens, 1);
  if (s.context > 0 && s.context < s.prompt_tokens + s.output_tokens) s.context = 0;
  return s;
}

}  // namespace headroom::sweep
