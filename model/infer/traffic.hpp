// Continuous batching in its steady state: `batch` requests at once, each followed by the next.
#pragma once

#include "model/infer/estimate.hpp"

namespace headroom::model {

struct Speeds;  // model/infer/timeline/speeds.hpp

/// How long prompts or outputs are, tokens: log-normal through the median and the 95th percentile.
///
///   mean = p50 * exp(s^2 / 2),  mean of squares = mean^2 * exp(s^2),  s = ln(p95 / p50) / 1.6449
///
/// p95 = p50: all alike.
struct Lengths {
  double p50 = 0, p95 = 0;
  double mean() const;
  double mean_square() const;
};

/// Of a request with prompt and output at one percentile of the lengths.
struct RequestTimes {
  Seconds ttft, total;
};

struct Traffic {
  Size running = 0;            ///< sequences at once, at most `batch`; 0: not one fits
  Seconds ttft, tpot;          ///< of the mean request
  Seconds total;               ///< of the mean request, from its arrival to its last token
  double requests_s = 0;       ///< that end, on each replica
  double output_tokens_s = 0;  ///< of all requests together, on each replica
  double prompt_share = 0;     ///< of the time of a replica, that goes to prompts
  double cached_tokens = 0;    ///< of a running sequence in the mean
  RequestTimes at_p50, at_p95;
};

/// What each request sees while the others start and end beside it.
///
///   ttft = request * sqrt(running) + prompt + max(queue, 1 / output) * (running - 1) * another
///          + step
///   after = (output - 1) * step + (running - 1) * longer * after / (ttft + after)
///   tpot = after / (output - 1)
///   total = ttft + after, at least running * another
///   requests a second = running / total without waiting = batch / total   (Little's law)
///   share of prompts = requests a second * another / stages, at most 1
///
/// Where memory holds `running` sequences, fewer than `batch`, the others wait: ttft grows by
/// (batch - running) / running of the time that a request runs (Little's law in a closed loop).
/// What a running sequence takes of the memory goes by the engine (Admission): a slot of the
/// context, else of prompt and output at p95; its whole mean length; or, where blocks follow as
/// tokens come, what stands in the mean: prompt + mean square of outputs / (2 mean output).
///
/// Of n pipeline stages, each has a share 1 / n of the sequences at a time: a step is one of so
/// many, and prefills of n requests overlap; `running` in tpot and ttft is that share.
///
/// step: one decode step of all sequences, seconds, with prompt + mean square of outputs / (2 mean
/// output) tokens cached each, since long outputs are met more often; prompt: prefill of this
/// prompt; another: of a mean one among those that meet in a pass, (running - 1) / output of them
/// as far as a chunk holds them, which read the weights once; longer: what it adds to the step that
/// it shares, or all of it where prompts go through passes of their own (Runtime::prompts_apart);
/// while one request runs, each of the others is followed by a new one, whose prompt comes at any
/// time of it, before its first token or after; queue: share of the other prompts that a request
/// waits for, which depends on how they arrive, but (running - 1) / output of them begin in the
/// pass that it begins in: while it runs, each of the others is met once, so that requests a second
/// never exceed what prompts take; request: of one alone, front end, tokeniser and schedule, which
/// requests that arrive together share. Source: the schedulers of vLLM, SGLang and TensorRT-LLM;
/// queue and request are fitted, and the root is: without it the first token of a request alone
/// carries what loaded servers take, 5 times too much (Qwen3-1.7B and Qwen2.5-72B on H100). Left
/// out: sequences that are put off and resumed; the spread of waiting times.
/// `speeds`: of the scenario, and of as many cards as it turns out to use from now on.
Traffic traffic(const Scenario& scenario, const Lengths& prompts, const Lengths& outputs,
                Speeds& speeds);
Traffic traffic(const Scenario& scenario, const Lengths& prompts, const Lengths& outputs);
/// The same where all requests are as the scenario has them.
Traffic traffic(const Scenario& scenario);

}  // namespace headroom::model
