// The figures of an estimate that rows of measurements are compared with.
#pragma once

#include <cstddef>
#include <string_view>

#include "model/infer/estimate.hpp"
#include "sweep/accuracy/measurement.hpp"

namespace headroom::sweep {

/// Which figure of an estimate a measurement is compared with.
enum class Statistic {
  allocated_peak,      ///< most bytes of tensors at once, all cards together
  resident_allocated,  ///< as above between passes: weights and caches
  card_used,           ///< as the driver shows it, all cards together
  all_but_cache,       ///< as the driver shows it, without caches, on the first card
  card_cache,          ///< caches of all sequences on the first card
  weights,             ///< bytes of the weights alone
  card_weights,        ///< weights on one card
  host_weights,        ///< weights left in host memory
  host_used,           ///< all that the process holds in host memory
  cache_token,         ///< bytes of cache a token of the longest request takes on a card
  cache_left,          ///< memory that an engine leaves for its cache on the fullest card
  cache_tokens,        ///< tokens of all requests that this memory holds
  card_left,           ///< free memory of that card when the engine is ready
  concurrency,         ///< longest requests that its cache holds at once
  loaded,              ///< weights on one card, as an engine logs them as it starts
  step,                ///< one decode step
  generation,          ///< prefill and every output token
  prefill,             ///< up to the first token
  serving_step,        ///< time per output token while other requests run
  serving_first,       ///< time to first token while other requests run
  serving_rate,        ///< all output tokens of a batch at the rate of the steady state
  load,                ///< from the start of the program until it answers
  load_warm,           ///< as above, with the files in the page cache
  load_weights,        ///< the weights alone
  load_weights_warm,   ///< as above, with the files in the page cache
};
bool is_memory(Statistic statistic);
/// True of memory that is left: the more the engine takes, the less it is.
bool is_left(Statistic statistic);

/// How a row's value is made from a time or a size.
enum class Form {
  amount,          ///< the figure itself
  rate_of_prompt,  ///< prompt tokens of all sequences per second
  rate_of_output,  ///< output tokens of all sequences per second
  rate_of_both,
  per_output,    ///< seconds per output token of one sequence
  per_sequence,  ///< as above, divided by the number of concurrent sequences
};
struct Quantity {
  Statistic statistic = Statistic::step;
  Form form = Form::amount;
  /// Number of the card: "card_weights:1". For cache figures, it is the pages of recurrent state of
  /// a sequence; 0: the engine's default.
  std::size_t index = 0;
};
/// By the columns "figure" and "form". Throws Skipped.
Quantity quantity_of(const Measurement& row);

/// Seconds of the statistic. `value`: of the row, in seconds or tokens a second.
double seconds(const Quantity& quantity, double value, const model::Scenario& scenario);

}  // namespace headroom::sweep
