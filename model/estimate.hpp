// The one pure function that every command and every report uses: Scenario in, Estimate out.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/machine.hpp"
#include "hardware/precision.hpp"
#include "model/quantisation/quantisation.hpp"
#include "model/runtime.hpp"

namespace headroom::model {

enum class Task : std::uint8_t { inference, training };

struct LayerSplit;  // model/placement/layer_split.hpp
struct Assignment;  // model/placement/assignment.hpp
struct Draft;       // model/memory/draft.hpp

/// No limit of the user's: all that the hardware has.
inline constexpr Bytes all_of_it{std::numeric_limits<std::int64_t>::max()};

/// Images in the prompt of each sequence, all alike; their tokens are among the prompt's.
struct Images {
  Size count = 0;
  Size patches = 0;  ///< of each that go through the vision tower
  Size hidden = 0;   ///< width of the tower

  bool operator==(const Images&) const = default;
};

/// An option of an engine that has a default.
enum class Told : std::uint8_t { nothing, on, off };

/// One grid point with its names resolved. Pointers are never null and outlive the scenario.
struct Scenario {
  Task task = Task::inference;
  const Weights* weights = nullptr;  ///< model × precision
  const Machine* machine = nullptr;
  const Runtime* runtime = nullptr;
  const Precision* kv_precision = nullptr;
  /// Sequences at once, on each replica. Where the engine keeps a pool of cache for all of them,
  /// those wait that it has no room for.
  Size batch = 1;
  Size prompt_tokens = 512, output_tokens = 128;
  Size context = 0;              ///< tokens of KV cache per sequence; 0: prompt + output
  Bytes gpu_budget = all_of_it;  ///< all the process may use on each card, as nvidia-smi shows it
  Bytes ram_budget = all_of_it;
  Bytes disk_budget = all_of_it;
  Size tensor_parallel = 0;    ///< cards that share each matrix; 0: as the runtime splits
  Size pipeline_parallel = 0;  ///< stages of layers; 0: one
  Size expert_parallel = 0;    ///< cards over which whole experts are spread; 0: split as matrices
  Size data_parallel = 0;      ///< replicas, each with `batch` sequences of its own; 0: one
  Bytes cpu_offload{0};        ///< weights of each card that stay in host memory
  const LayerSplit* layer_split = nullptr;  ///< where layers go by hand; null: the runtime decides
  const Assignment* assignment = nullptr;   ///< where each layer is, one by one; null: likewise
  bool kv_cache = true;                     ///< false: every token recomputes the whole prefix
  Told flash_attention = Told::nothing;     ///< where the engine may be told
  bool enforce_eager = false;               ///< an engine that captures CUDA graphs is told not to
  Size threads = 0;                         ///< of the CPU; 0: one for each physical core
  Size batch_parts = 1;  ///< of the batch, which go through each layer in turn, copied once for all
  const Draft* draft = nullptr;  ///< a smaller model that proposes tokens; null: none
  Images images{};
  Size concurrency = 0;  ///< requests at once of an engine under load, `batch`; 0: not asked
  Size prompt_tokens_p95 = 0, output_tokens_p95 = 0;  ///< of those requests; 0: all alike

  bool operator==(const Scenario&) const = default;
  Size cached_tokens() const { return context > 0 ? context : prompt_tokens + output_tokens; }
  /// Sequences that go through a layer together.
  Size batch_part() const { return (batch + batch_parts - 1) / batch_parts; }
};

enum class Verdict : std::uint8_t {
  fits_one_gpu,
  fits_gpus,
  fits_cpu_offload,
  fits_disk_offload,
  does_not_fit,
  refused
};
/// Whether it fits, decided on the interval: `no` is as sure as `yes`.
enum class Sure : std::uint8_t { yes, marginal, no };

/// Why a point is not better than it is.
enum class Reason : std::uint8_t {
  none,
  gpu_memory,               ///< short on the cards
  ram,                      ///< short in host memory
  disk,                     ///< short on disk
  no_offload,               ///< the runtime keeps weights held like this wholly on cards
  heads_not_divisible,      ///< tensor parallelism does not divide the heads
  precision_unsupported,    ///< not held by this runtime or on this hardware
  context_too_long,         ///< beyond the model's positions, and the runtime refuses
  no_gpu,                   ///< the runtime needs one
  not_generative,           ///< an encoder: there is nothing to decode
  layers_not_divisible,     ///< fewer layers than pipeline stages
  not_enough_gpus,          ///< the parallel sizes ask for more cards than there are
  parallelism_unsupported,  ///< the runtime does not split that way
  cache_required,           ///< the runtime cannot generate without a KV cache
  widths_not_divisible,     ///< tensor parallelism does not divide some matrix of the layers
  groups_not_divisible,     ///< a card's part of a matrix is no whole number of quantisation groups
  vocabulary_not_divisible,  ///< tensor parallelism does not divide the padded vocabulary
  no_experts,                ///< expert parallelism of a model without experts
  experts_span_replicas,  ///< expert parallelism is over tensor × data parallel cards, all of them
  experts_not_divisible,  ///< training: expert parallelism does not divide experts, or replicas it
  tokens_not_divisible,   ///< training: context parallelism does not divide the sequence
  nothing_shared,         ///< training: ZeRO or its offload without cards to share out over
  passes_do_not_fill,     ///< training: fewer passes than stages of an interleaved pipeline
  cards_unsupported,      ///< the runtime has no kernels for cards of this maker
  model_unsupported,      ///< an encoder-decoder of a class that the runtime does not run
  cache_unsupported,      ///< keys and values in a format that the runtime does not have
  experts_divide_cards,   ///< expert parallelism divides neither cards nor experts evenly
};

/// What a training step has beside the fields that it shares with inference. Bytes of the fullest
/// card; terms that are not alive together do not add up to the peak.
struct StepOutcome {
  Bytes master, gradients, states;  ///< fp32 copies, gradients, optimizer states
  Bytes loss, working;              ///< logits; gradients of activations and what is made again
  Bytes exchanged;                  ///< gathered, on the way to other cards, workspaces
  Bytes stepping;                   ///< temporaries of the optimizer
  std::uint8_t moment = 0;          ///< model/training/training.hpp, Peak
  bool gradients_alive = false;     ///< at that moment
  Seconds time;                     ///< of a whole step; infinite where it is not known
  double utilization = 0;           ///< model FLOPs over what the cards could do in that time

  bool operator==(const StepOutcome&) const = default;
};

/// What requests get of an engine under load, in its steady state (model/speed/traffic.hpp).
struct Served {
  Size running = 0;             ///< sequences at once, of each replica; 0: none was asked
  Seconds ttft, tpot, total;    ///< of the mean request
  Seconds ttft_p95, total_p95;  ///< of a request with lengths at their 95th percentile
  double requests_s = 0, output_tokens_s = 0;  ///< of all replicas

  bool operator==(const Served&) const = default;
};

/// The outcome of one point. Plain values: no allocation. Byte counts are of the whole machine
/// unless they say "gpu".
struct Estimate {
  Task task = Task::inference;  ///< training: weights, activations and overhead of the fullest card
  Verdict verdict = Verdict::refused;
  Sure sure = Sure::no;
  Reason reason = Reason::none;
  std::uint16_t gpus_used = 0;
  Size layers_gpu = 0, layers_cpu = 0, layers_disk = 0;
  Bytes weights, kv_cache, activations, overhead;  ///< kv_cache includes recurrent state
  Bytes gpu_bytes;  ///< expected use of the most loaded card, as nvidia-smi would show it
  Bytes gpu_bytes_low, gpu_bytes_high;
  Bytes
      max_memory;  ///< the weights' share of the budget on the first card (accelerate's max_memory)
  Bytes cpu_bytes, disk_bytes;  ///< held in RAM, left on disk
  Bytes short_bytes;            ///< what is missing, where it does not fit
  Seconds load, ttft, tpot;     ///< infinite where it does not fit; load: from a cold disk
  Seconds load_warm;            ///< the same where the page cache holds the files
  Seconds warming;  ///< what the first answer takes longer than every later one: weights in host
                    ///< memory that were only mapped are read from the disk
  double tokens_s = 0;  ///< output tokens per second of all sequences together, after the first
                        ///< token; training: tokens trained on per second by all cards
  Seconds total;        ///< ttft and all output tokens, once weights are where they stay
  Size waiting = 0;     ///< of the batch of each replica, for room in the engine's pool of cache;
                        ///< bytes and times are of the sequences that run
  Served served;        ///< where the scenario asks for a concurrency
  StepOutcome step;     ///< of training alone
  /// No measurement stands behind the rates of such cards with such weights, on which the first
  /// token and a decode step on cards rest.
  /// Shares of ttft and tpot, in 127ths rounded down, that cards at their data sheets' rates take:
  /// no interval reaches below.
  std::uint8_t first_least = 0, step_least = 0;
  bool first_unmeasured = false, step_unmeasured = false;

  bool operator==(const Estimate&) const = default;
};

/// Pure and total: never throws for a scenario made of valid rows, depends on nothing else.
Estimate evaluate(const Scenario& scenario);

/// "fits_one_gpu", … as stored; and words for a reader.
std::string_view name_of(Verdict verdict);
std::string_view name_of(Sure sure);
std::string_view name_of(Reason reason);

/// An 80 % interval as factors on the expected value, from the residuals of measured rows. With no
/// measurements they are stated guesses, and nothing is ever sure.
struct Interval {
  constexpr Interval() = default;
  constexpr Interval(double low_end, double high_end, int rows)
      : low(low_end), high(high_end), measurements(rows) {}
  explicit Interval(const Constant& c) : Interval(c.low, c.high, c.measurements) {}

  double low = 1, high = 1;
  int measurements = 0;
};
/// Of a first token and of a decode step where nothing was measured.
inline constexpr Interval unmeasured_first{0.4, 2.5, 0}, unmeasured_step{0.5, 2.0, 0};

/// Estimate::first_least and step_least of a time that cannot be shorter.
inline constexpr double most_least = 127;

/// Of one scenario's times: each kind has residuals of its own.
struct TimeIntervals {
  Interval load, ttft, tpot;
};
/// Under load: of the first token, of a token and a whole request, of the time that a number of
/// requests takes.
struct ServingIntervals {
  Interval ttft, tpot, rate;
};
/// All intervals of a runtime.
struct IntervalFactors {
  Interval memory{};          ///< of the use of a card
  Interval load{};            ///< of the time to load
  Interval ttft{};            ///< of the first token, all weights on cards
  Interval tpot{};            ///< of a decode step, all weights on cards
  Interval offload{};         ///< of both, weights elsewhere: they wait for the same links
  Interval serving_ttft{};    ///< of the first token under load
  Interval serving_tpot{};    ///< of a token and of a whole request under load
  Interval serving_rate{};    ///< of the time that a number of requests takes under load
  std::string_view source{};  ///< of the measured steps

  /// On cards that were not measured with such weights: at least as wide as of an engine of which
  /// nothing was, and as unmeasured.
  TimeIntervals times(const Estimate& e) const {
    const bool on_cards = e.verdict <= Verdict::fits_gpus;
    const Interval first = e.first_unmeasured ? wider(ttft, unmeasured_first) : ttft;
    const Interval step = e.step_unmeasured ? wider(tpot, unmeasured_step) : tpot;
    return {load, from(e.first_least, on_cards ? first : offload),
            from(e.step_least, on_cards ? step : offload)};
  }
  /// With so many `running` at once. One alone takes what its passes take: its intervals are no
  /// narrower than theirs.
  ServingIntervals serving(const Estimate& e, Size running) const {
    const bool either = e.first_unmeasured || e.step_unmeasured;
    const ServingIntervals loaded{
        either ? wider(serving_ttft, unmeasured_first) : serving_ttft,
        e.step_unmeasured ? wider(serving_tpot, unmeasured_step) : serving_tpot,
        either ? wider(serving_rate, unmeasured_first) : serving_rate};
    if (running != 1) return loaded;
    const TimeIntervals alone = times(e);
    return {wider(loaded.ttft, alone.ttft), wider(loaded.tpot, alone.tpot),
            wider(loaded.rate, alone.tpot)};
  }
  ServingIntervals serving(const Estimate& e) const { return serving(e, e.served.running); }
  static Interval from(std::uint8_t least, Interval of) {
    of.low = std::max(of.low, least / most_least);
    return of;
  }
  static Interval wider(const Interval& a, const Interval& b) {
    return {std::min(a.low, b.low), std::max(a.high, b.high),
            std::min(a.measurements, b.measurements)};
  }
};
/// Where it is known how fast the host's memory is (`ram_stated`) what waits for it has an interval
/// of its own, if anything was measured there.
IntervalFactors interval_factors(const Runtime& runtime, bool ram_stated = false);
IntervalFactors interval_factors(const Scenario& scenario);
/// The time of the whole answer when its first token takes `ttft` times what is expected, and the
/// steps after it `tpot` times.
Seconds total_at(const Estimate& estimate, double ttft, double tpot);

// ---- the same in words --------------------------------------------------------------------------

/// One printed term. Bytes or seconds by `unit`.
struct Term {
  std::string name, unit;  ///< unit: "bytes" or "seconds"
  double low, expected, high;
  std::string formula, numbers;  ///< the rule, and the same with the numbers put in
  std::string source;
};
/// What one device holds.
struct DeviceUse {
  std::string name;  ///< "gpu 0: a100-sxm-40gb", "cpu", "disk"
  std::string kind;  ///< "gpu", "cpu", "disk"
  Bytes capacity, budget;
  Bytes weights, kv_cache, activations, overhead, total;
  Size first_layer = -1, last_layer = -1;  ///< -1: none
  Size card = -1;                          ///< its number; -1: no card
  std::string layers{};                    ///< "0-12, 14"; "3-60 (experts)"; empty: none
};
struct Explanation {
  Estimate estimate;
  std::vector<std::string> assumptions, warnings;
  std::vector<std::string> notes;  ///< what the engine would say of it
  std::vector<DeviceUse> devices;
  std::vector<Term> terms;
  std::string advice;  ///< the smallest change that helps; empty when none is needed
};
/// The same arithmetic as `evaluate`, with every term kept.
Explanation explain(const Scenario& scenario);

}  // namespace headroom::model
