// Latency and throughput of one copy of a model. The batch starts and ends together, or the engine
// replaces each finished request by the next.
#pragma once

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"

namespace headroom::model {

struct Block;  // model/infer/block.hpp
struct Plan;

/// Times of each request, and how many requests end in a second.
struct Service {
  Seconds ttft, tpot;       ///< to the first token; from each to the next
  Seconds total;            ///< from a request's arrival to its last token
  double requests_s = 0;    ///< rate of one copy
  double prompt_share = 0;  ///< share of the copy's time for prompts
  Interval first, step;     ///< 80 % of ttft and of tpot, as factors
  Interval time;            ///< 80 % of the time that a number of requests takes

  double output_tokens_s(const Scenario& s) const {
    return requests_s * static_cast<double>(s.output_tokens);
  }
};

/// True if requests follow each other without waiting for the batch. The engine must batch
/// continuously and run on cards, with a cache and without a draft model.
bool batches_continuously(const Scenario& scenario, const Estimate& estimate);

/// For `batch` sequences that start and end together: requests a second = batch / total, the
/// prompts' share of the time = ttft / total. Intervals are left at 1.
Service of_one_batch(const Scenario& scenario, const Estimate& estimate);

/// One request alone has the times of its passes. Several have, under an engine with continuous
/// batching, the steady state (model/infer/traffic.hpp) with the
/// intervals of serving. Otherwise one batch with the intervals of its passes. `estimate` belongs
/// to `scenario` and fits.
Service service_of(const Scenario& scenario, const Estimate& estimate);

/// The steady state of `scenario.concurrency` requests, with lengths between the scenario's and
/// their 95th percentiles. `running` is 0 if the engine has no such state or nothing fits.
/// `block` and `fitted`: as Pace().
Served served(const Scenario& scenario, const Estimate& estimate, Block& block,
              const Plan* fitted = nullptr);

}  // namespace headroom::model
