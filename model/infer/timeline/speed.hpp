// How long a pass takes: a roofline over the tensors that are read and multiplied, device by
// device.
#pragma once

#include <vector>

#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/timeline/pass.hpp"

namespace headroom::model {

/// Where the time of one pass goes, seconds. `total` is what the pass takes.
struct PassTime {
  double cards = 0;      ///< roofline on the cards, one after the other (layer split) or together
  double launches = 0;   ///< per-layer overheads
  double stream = 0;     ///< offloaded weights over the host bus
  double disk = 0;       ///< weights read from disk in this pass
  double cpu = 0;        ///< layers computed on the CPU
  double reduce = 0;     ///< all-reduces of tensor parallelism
  double crossings = 0;  ///< going on from one device to another
  double eager = 0;      ///< what kernels without CUDA graphs take beyond all of these
  double total = 0;
  double least = 0;  ///< of it on the cards, at the full rates of their data sheets
};

struct Stretch;  // model/infer/timeline/record.hpp
using Record = std::vector<Stretch>;
struct Speeds;  // model/infer/timeline/speeds.hpp

/// A pass with what of its time depends neither on the placement nor on budgets.
struct TimedPass {
  TimedPass(const Scenario& scenario, const Speeds& speeds, const Pass& pass);

  Pass pass;
  double kernels;   ///< all that are launched
  double launches;  ///< seconds, whether or not they hide behind the cards
};
/// Of cards and CPU `speeds` says what they reach, of the plan's cards at least, and of the first.
/// `record`: gets what the total is added up from; null: nothing is kept.
PassTime time_of(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                 const TimedPass& pass, Record* record = nullptr);
/// The same of prompts with the images among them, which go through the tower.
PassTime prefill(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                 const TimedPass& prompts, Record* record = nullptr);

/// What is cached halfway through the output, where the mean step is.
CachedTokens mean_tokens(const Scenario& scenario);

/// One decode step of every sequence, at `tokens` cached.
PassTime decode_step(const Scenario& scenario, const Speeds& speeds, const Plan& plan,
                     CachedTokens tokens, Record* record = nullptr);
PassTime decode_step(const Scenario& scenario, const Plan& plan, CachedTokens tokens,
                     Record* record = nullptr);
/// The same with `each` new tokens of every sequence: a pass that checks what a draft model
/// proposed.
PassTime check_step(const Scenario& scenario, const Plan& plan, CachedTokens tokens, Size each,
                    Record* record = nullptr);
/// The prompts of all sequences, up to the first token. `prompt` in tokens per sequence.
PassTime prefill(const Scenario& scenario, const Speeds& speeds, const Plan& plan, Size prompt,
                 Record* record = nullptr);
PassTime prefill(const Scenario& scenario, const Plan& plan, Size prompt, Record* record = nullptr);
/// What is repeated for every output token: a decode step at mean_tokens, or the whole prefix where
/// no cache is kept; the prompt where nothing is generated.
PassTime step(const Scenario& scenario, const Plan& plan, Record* record = nullptr);

/// Expected share of distinct experts that `tokens` tokens touch: 1 - (1 - used/experts)^tokens,
/// for independent uniform routing. With the experts in `groups` equal groups, the share of its own
/// that the group with the most of them has.
double experts_touched(const Profile& profile, double tokens, Size groups = 1);

}  // namespace headroom::model
