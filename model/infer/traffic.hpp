// Continuous batching in its steady state: `batch` concurrent requests, each followed by the next.
#pragma once

#include "model/infer/pace.hpp"

namespace headroom::model {

/// Times of a request with prompt and output at one percentile of the lengths.
struct RequestTimes {
  Seconds ttft, total;
};

struct Traffic {
  Size running = 0;            ///< concurrent sequences, at most `batch`; 0: not one fits
  Seconds ttft, tpot;          ///< times of the mean request
  Seconds total;               ///< time of the mean request, from its arrival to its last token
  double requests_s = 0;       ///< finished requests a second, on each replica
  double output_tokens_s = 0;  ///< rate of all requests together, on each replica
  double prompt_share = 0;     ///< share of a replica's time for prompts
  double cached_tokens = 0;    ///< mean tokens of a running sequence
  RequestTimes at_p50, at_p95;
};

/// Times of each request while others start and end.
///
///   ttft = request * sqrt(running) + prompt + waits + step
///   waits = max(queue * first, (running - 1) / output * another)
///   first = (1 + running / together) / 2 * pass - prompt, running / together at least 1
///   after = (output - 1) * step + (running - 1) * longer * after / (ttft + after)
///   tpot = after / (output - 1)
///   total = ttft + after, at least running * another
///   requests a second = running / total without waiting = batch / total   (Little's law)
///   share of prompts = requests a second * another / stages, at most 1
///
/// If memory fits `running` sequences, fewer than `batch`, the others wait. Then ttft grows by
/// (batch - running) / running of the time that a request runs (Little's law in a closed loop). The
/// engine decides the memory of a running sequence (Admission). It is a slot of the context, or of
/// prompt and output at p95; or the whole mean length. An engine that allocates blocks as tokens
/// arrive uses the mean of cached tokens: prompt + mean square of outputs / (2 mean output).
///
/// Each of n pipeline stages has a share 1 / n of the sequences at a time. A step covers that
/// share, and prefills of n requests overlap; `running` in tpot and ttft is that share.
///
/// step: seconds of one decode step of all sequences. Each has prompt + mean square of outputs / (2
/// mean output) tokens cached, because long outputs run longer. prompt: prefill of this prompt.
/// another: prefill of a mean prompt in a shared pass of (running - 1) / output prompts, as far as
/// a chunk has room. The pass reads the weights once. longer: the prompt's part of a shared step,
/// or all of it if prefill has passes of its own (ServingPolicy::separate_prefill). While one
/// request runs, a new one follows each of the others. Its prompt comes at any time, before the
/// first token or after. (running - 1) / output of them start in its own pass. first: the wait of
/// requests that come together, as the first of every benchmark do: `together` of them have room in
/// a chunk, which takes `pass` seconds. queue: their share. A run of ten requests for each
/// concurrent one has a tenth (ai-dynamo/aiconfigurator: request_count=10*concurrency). While a
/// request runs, it meets each of the others once, so requests a second never exceed the capacity
/// for prompts. request: fixed time of a single request for front end, tokeniser and schedule.
/// Requests that arrive together share it. Source: the schedulers of vLLM, SGLang and TensorRT-LLM;
/// request is fitted, and so is the root. Without it the first token of a single request
/// has the time of loaded servers, 5 times too much (Qwen3-1.7B and Qwen2.5-72B on H100). Left out:
/// preempted sequences and the spread of waiting times. `block` and `fitted`: as Pace().
Traffic traffic(const Scenario& scenario, const Lengths& prompts, const Lengths& outputs,
                Block& block, const Plan* fitted = nullptr);
Traffic traffic(const Scenario& scenario, const Lengths& prompts, const Lengths& outputs);
/// For requests that all have the scenario's lengths.
Traffic traffic(const Scenario& scenario);

}  // namespace headroom::model
