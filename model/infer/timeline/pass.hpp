// One forward pass: what goes through the model, which of its layers run and in how many kernels.
#pragma once

#include <algorithm>

#include "hardware/units.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// One forward pass: how many tokens go through it and which of the model's layers run.
struct Pass {
  double tokens = 1;        ///< through the matrices, all sequences together
  double logit_rows = 1;    ///< positions whose logits are computed
  double weight_reads = 1;  ///< times the weights are read (chunks of a prompt, parts of a batch)
  Range layers;             ///< layers that run
  CachedTokens cached;      ///< decode only
  Size prompt = 0;          ///< prefill only
  Size chunk = 0;           ///< prefill_chunk() of a prefill
  Flops patch_flops;        ///< attention of a vision tower's patches, in each layer
  double touched = 1;       ///< share of a layer's experts that are read each time

  bool operator==(const Pass&) const = default;
};

/// Cached tokens halfway through the output, where the mean step is.
CachedTokens mean_tokens(const Scenario& scenario);

/// One step of decoding every sequence with `tokens` cached and `each` new ones.
Pass decode_pass(const Scenario& scenario, const CachedTokens& tokens, Size each = 1);
/// The prompts of all sequences. `prompt` in tokens per sequence. `chunk`: prefill_chunk().
Pass prefill_pass(const Scenario& scenario, Size prompt, Size chunk);
Pass prefill_pass(const Scenario& scenario, Size prompt);
/// Parts in which such a pass goes through the layers, each of which reads the weights. `chunk`:
/// prefill_chunk().
double prompt_parts(const Scenario& scenario, Size prompt, Size chunk);
/// The images of all sequences through the vision tower. Every patch looks at all of its image:
/// 4 * patches^2 * hidden FLOPs a layer, the upper bound where windows are smaller.
Pass tower_pass(const Scenario& scenario);
/// The pass that repeats for every output token: a decode step at mean_tokens, or the whole prefix
/// without a cache. If nothing is generated, it is the prompt.
Pass step_pass(const Scenario& scenario);
/// True if that is a decode step.
bool decodes(const Scenario& scenario);
/// Tokens of each sequence in a step_pass() that is none.
Size tokens_of_step(const Scenario& scenario);
/// A pass of `prompts` of the scenario. `decoding` sequences go through each of its parts besides.
Pass joint_pass(const Scenario& scenario, Pass prompts, Size decoding);
/// Layers that run, each as often as it does.
double runs(const Scenario& scenario, const Pass& pass);
/// Kernels of so many layers, each as often as it runs: those of the profile and those of products
/// of packed weights. If experts are routed to, moe_kernels_per_layer of all together or
/// expert_kernels of each are added.
double kernels(const Scenario& scenario, Range layers);
/// True if an engine that unpacks weights into memory does so for this pass: a prompt, or any.
bool unpacks_for(const Scenario& scenario, const Pass& pass);
/// True if the launching thread waits for every product of weights, so that no launch overlaps with
/// work: transformers' FP8Linear (finegrained_fp8.py: synchronize, from 4.48 on).
bool waits_for_products(const Scenario& scenario);
/// True if kernels are launched while earlier ones run.
bool launches_overlap(const Scenario& scenario);
/// Launches in addition to kernels() if tensors are split over cards and nothing is captured. Each
/// layer has two all-reduces, each with a copy of its input into a shared buffer (vLLM 0.4
/// custom_all_reduce.py: all_reduce_unreg).
double reduce_kernels(const Scenario& scenario, const Pass& pass, Size shards);

}  // namespace headroom::model
