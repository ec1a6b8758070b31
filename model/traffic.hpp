// Continuous batching in its steady state: `batch` requests at once, each followed by the next.
#pragma once

#include "model/estimate.hpp"

namespace headroom::model {

struct Traffic {
  Size running = 0;            ///< sequences at once, at most `batch`; 0: not one fits
  Seconds ttft, tpot;          ///< of the mean request
  double output_tokens_s = 0;  ///< of all requests together, on each replica
};

/// What each request sees while the others start and end beside it.
///
///   tpot = step + (batch - 1) / output * prompt
///   ttft = request + prompt * (1 + queue * (batch - 1)) + step
///
/// Where memory holds `running` sequences, fewer than `batch`, both are those of `running`, and the
/// others wait: ttft grows by (batch - running) / running of the time that a request runs (Little's
/// law in a closed loop).
///
/// Of n pipeline stages, each has a share 1 / n of the sequences at a time: a step is one of so
/// many, and prefills of n requests overlap.
///
/// step: one decode step of all sequences, seconds; prompt: prefill of one request; while one
/// request gets its output tokens, each of the others is followed by a new one, whose prefill
/// shares the passes (chunked prefill); queue: share of the other prompts that a request waits
/// for, which depends on how they arrive. Source: the schedulers of vLLM, SGLang and TensorRT-LLM;
/// queue and request are fitted. Left out: unequal lengths, sequences that are put off and resumed.
Traffic traffic(const Scenario& scenario);

}  // namespace headroom::model
