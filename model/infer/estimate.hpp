// The one pure function that every command and every report uses: Scenario in, Estimate out.
#pragma once

#include <cstdint>

#include "model/infer/scenario/scenario.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

/// Fields of a training step that inference does not have. Bytes on the fullest card. Terms peak at
/// different times, so they do not add up to the peak.
struct StepOutcome {
  Bytes master, gradients, states;  ///< fp32 copies, gradients, optimizer states
  Bytes loss, working;              ///< logits; gradients of activations and what is made again
  Bytes exchanged;                  ///< gathered, on the way to other cards, workspaces
  Bytes stepping;                   ///< temporaries of the optimizer
  std::uint8_t moment = 0;          ///< model/train/training.hpp, Peak
  bool gradients_alive = false;     ///< at that moment
  Seconds time;                     ///< time of a whole step; infinite if it is not known
  double utilization = 0;           ///< model FLOPs over what the cards could do in that time

  bool operator==(const StepOutcome&) const = default;
};

/// Latency and throughput of an engine under load, in its steady state (model/infer/traffic.hpp).
struct Served {
  Size running = 0;             ///< concurrent sequences of each replica; 0: none was asked
  Seconds ttft, tpot, total;    ///< times of the mean request
  Seconds ttft_p95, total_p95;  ///< times of a request with lengths at their 95th percentile
  double requests_s = 0, output_tokens_s = 0;  ///< rates of all replicas
  /// Requests a second of all replicas that may come at random within the scenario's limits; 0:
  /// none may, or nothing was asked.
  double sustained_s = 0;

  bool operator==(const Served&) const = default;
};

/// The outcome of one point. Plain values: no allocation. Byte counts are of the whole machine
/// unless they say "gpu".
struct Estimate {
  Task task = Task::inference;  ///< training: weights, activations and overhead of the fullest card
  Verdict verdict = Verdict::refused;
  Confidence sure = Confidence::no;
  Reason reason = Reason::none;
  std::uint16_t gpus_used = 0;
  Size layers_gpu = 0, layers_cpu = 0, layers_disk = 0;  ///< without towers of images and audio
  Bytes weights, kv_cache, activations, overhead;        ///< kv_cache includes recurrent state
  Bytes gpu_bytes;      ///< expected use of the most loaded card, as nvidia-smi would show it
  Bytes gpu_uncertain;  ///< part of it that the memory interval is a factor on
  Bytes gpu_bytes_low, gpu_bytes_high;
  Bytes max_memory;  ///< part of the first card's budget for weights (accelerate's max_memory)
  Bytes cpu_bytes, disk_bytes;  ///< in RAM, left on disk
  Bytes short_bytes;            ///< missing memory, if it does not fit
  Seconds load, ttft, tpot;     ///< infinite where it does not fit; load: from a cold disk
  Seconds load_warm;            ///< as above, if the page cache holds the files
  Seconds warming;      ///< extra time of the first answer. Weights in host memory that were only
                        ///< mapped are read from the disk
  double tokens_s = 0;  ///< output tokens per second of all sequences together, after the first
                        ///< token; training: tokens trained on per second by all cards
  Seconds total;        ///< ttft and all output tokens, once weights are where they stay
  Size queued = 0;      ///< sequences of each replica's batch that wait for room in the engine's
                        ///< cache pool; bytes and times are those of running sequences
  Served served;        ///< if the scenario sets a concurrency
  StepOutcome step;     ///< outcome of a training step
  /// Shares of ttft and tpot, in 127ths rounded down, that cards at their data sheets' rates take:
  /// no interval reaches below.
  std::uint8_t first_least = 0, step_least = 0;
  /// No measurement stands behind the rates of such cards with such weights, on which the first
  /// token and a decode step on cards rest.
  bool first_unmeasured = false, step_unmeasured = false;

  bool operator==(const Estimate&) const = default;
};

constexpr bool fits(const Estimate& estimate) { return fits(estimate.verdict); }
/// True if it fits and at least one card works.
constexpr bool uses_a_gpu(const Estimate& e) { return fits(e) && e.gpus_used > 0; }
/// True if it fits with nothing offloaded.
constexpr bool is_on_gpus(const Estimate& e) { return e.verdict <= Verdict::fits_gpus; }
/// True if the interval of memory reaches over a limit. The wide one of an engine whose memory is
/// not measured is no limit.
inline bool is_at_limit(int memory_measurements, const Estimate& e) {
  return e.sure == Confidence::marginal && memory_measurements > 0;
}
inline bool is_at_limit(const Engine& engine, const Estimate& e) {
  return is_at_limit(engine.memory.interval.measurements, e);
}

/// Pure and total: never throws for a scenario made of valid rows, depends on nothing else.
Estimate evaluate(const Scenario& scenario);

}  // namespace headroom::model
