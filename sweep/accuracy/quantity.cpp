#include "sweep/accuracy/quantity.hpp"

#include <fmt/format.h>

#include <array>

#include "sweep/accuracy/measurement_names.hpp"

namespace headroom::sweep {
namespace {

using enum Statistic;
constexpr auto quantities = std::to_array<Quantity>(
    {{"max_memory_allocated_total", allocated_peak},
     {"max_gpu_memory", allocated_peak},
     {"gpu_memory_total", allocated_peak},
     // no trace of the prompt's activations in these tables: not a peak
     {"gpu_memory", allocated_held},
     {"vram_used", card_used},
     {"memory_beside_cache", all_but_cache},
     // of one sequence of the longest length that an engine was started for
     {"sequence_cache_memory", card_cache},
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
     // from the start of the program until it answers
     {"start_time", load},
     {"model_load_time", load_weights},
     {"weights_load_time", load_weights}});

}  // namespace

bool is_memory(Statistic statistic) { return statistic < step; }

const Quantity& quantity_of(const Measurement& row) {
  for (const Quantity& each : quantities)
    if (each.name == row["quantity"]) return each;
  throw Skipped(Skip::statistic, fmt::format("quantity '{}'", row["quantity"]));
}

double seconds(const Quantity& quantity, double value, const model::Scenario& s) {
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

}  // namespace headroom::sweep
