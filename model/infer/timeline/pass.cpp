#include "model/infer/timeline/pass.hpp"

#include <algorithm>
#include <cmath>

#include "model/infer/memory/activation.hpp"
#include "model/infer/timeline/experts_touched.hpp"

namespace headroom::model {
namespace {

/// True if FP8 weights have a scale for each block.
bool is_by_block(const Scenario& s) {
  return width_of(*s.weights) == Width::fp8 && s.weights->scheme->group > 0;
}

double over(const std::vector<Size>& before, Range range) {
  return static_cast<double>(between(before, range));
}

}  // namespace

Pass decode_pass(const Scenario& s, const CachedTokens& tokens, Size each) {
  const Profile& profile = s.weights->model->profile;
  Pass pass;
  pass.tokens = pass.logit_rows = static_cast<double>(s.batch * each);
  pass.layers = {profile.first_decoding, profile.end_decoding};
  pass.cached = tokens;
  pass.weight_reads = static_cast<double>(s.batch_parts);
  pass.touched = experts_touched(profile, pass.tokens / pass.weight_reads);
  return pass;
}

double prompt_parts(const Scenario& s, Size prompt, Size chunk) {
  if (chunk <= 0) return static_cast<double>(s.batch_parts);
  const double tokens = static_cast<double>(s.batch) * static_cast<double>(prompt);
  return std::ceil(tokens / static_cast<double>(chunk));
}

Pass prefill_pass(const Scenario& s, Size prompt) {
  return prefill_pass(s, prompt, prefill_chunk(s));
}

Pass prefill_pass(const Scenario& s, Size prompt, Size chunk) {
  const Profile& profile = s.weights->model->profile;
  Pass pass;
  pass.tokens = static_cast<double>(s.batch) * static_cast<double>(prompt);
  pass.logit_rows = static_cast<double>(s.batch);
  pass.chunk = chunk;
  pass.weight_reads = prompt_parts(s, prompt, pass.chunk);
  const auto layers = static_cast<Size>(profile.layers.size());
  // A text prompt runs the decoder; an encoder's layers run instead where the prompt goes there.
  pass.layers = s.weights->model->encoder_decoder && profile.first_decoding > 0
                    ? Range{0, profile.first_decoding}
                    : Range{profile.first_decoding, profile.end_decoding};
  if (!profile.generative) pass.layers = {0, layers};
  pass.prompt = prompt;
  pass.touched = experts_touched(profile, pass.tokens / pass.weight_reads);
  return pass;
}

Pass tower_pass(const Scenario& s) {
  Pass pass;
  const auto patches = static_cast<double>(s.images.patches);
  const double images = static_cast<double>(s.batch) * static_cast<double>(s.images.count);
  pass.tokens = images * patches;
  pass.logit_rows = 0;
  const auto [first, end] = s.weights->model->profile.towers();
  pass.layers = {first, end};
  pass.touched = experts_touched(s.weights->model->profile, pass.tokens);
  pass.patch_flops = Flops(4 * images * patches * patches * static_cast<double>(s.images.hidden));
  return pass;
}

CachedTokens mean_tokens(const Scenario& s) {
  const Size half = (s.output_tokens + 1) / 2;
  if (s.weights->model->encoder_decoder) return {.self = half, .source = s.prompt_tokens};
  return {.self = s.prompt_tokens + half, .source = 0};
}

bool decodes(const Scenario& s) { return s.weights->model->profile.generative && s.kv_cache; }

Size tokens_of_step(const Scenario& s) {
  return s.weights->model->profile.generative ? mean_tokens(s).self : s.prompt_tokens;
}

Pass step_pass(const Scenario& s) {
  return decodes(s) ? decode_pass(s, mean_tokens(s)) : prefill_pass(s, tokens_of_step(s));
}

Pass joint_pass(const Scenario& s, Pass prompts, Size decoding) {
  const double steps = prompts.weight_reads, tokens = steps * static_cast<double>(decoding);
  prompts.tokens += tokens;
  prompts.logit_rows += tokens;
  prompts.touched = experts_touched(s.weights->model->profile, prompts.tokens / steps);
  return prompts;
}

double runs(const Scenario& s, const Pass& pass) {
  return over(s.weights->model->profile.passes_before, pass.layers);
}

double reduce_kernels(const Scenario& s, const Pass& pass, Size shards) {
  return shards > 1 ? 4 * runs(s, pass) : 0;
}

bool unpacks_for(const Scenario& s, const Pass& pass) {
  const KernelPolicy& kernels = s.runtime->kernels;
  return pass.prompt > 0 || kernels.dequant_bytes_per_element > 0 ||
         kernels.packed_products == PackedProducts::in_memory_each_pass;
}

bool waits_for_products(const Scenario& s) {
  return s.runtime->kernels.launch == Launch::overlapped && is_by_block(s);
}

bool launches_overlap(const Scenario& s) {
  return s.runtime->kernels.launch == Launch::overlapped && !waits_for_products(s);
}

namespace {

/// Kernels in addition to each product of a matrix, in units of packed_kernels, the length of an
/// average one. If FP8 weights have scales by block, a kernel before it computes scales of
/// activations (vLLM 0.19 fp8_utils.py: per_token_group_quant_fp8). With a single scale, an earlier
/// kernel does it. Engines that launch from Python launch more of them:
///   block FP8      three (transformers finegrained_fp8.py, FP8Linear: activations, conversion,
///                  a wait for both)
///   AWQ            one (AutoAWQ gemm.py: the sum of split products)
///   8-bit GPTQ     those of its library
///   bitsandbytes   five (MatMul8bitLt: rows' scales, activations, outliers, their product, the
///                  sum; Linear4bit: the state of its weights looked up, checked and passed on in
///                  as many calls, MatMul4Bit, gemv_4bit)
double extra_kernels_per_product(const Scenario& s) {
  const Scheme& scheme = *s.weights->scheme;
  const bool by_block = is_by_block(s);
  const double each = s.runtime->kernels.packed_kernels.value;
  if (s.runtime->kernels.launch != Launch::overlapped) return by_block ? each : 0;
  switch (scheme.family) {
    case SchemeFamily::awq:
      return each;
    case SchemeFamily::gptq:
      return scheme.format == "int8"
                 ? static_cast<double>(s.runtime->kernels.gptq_bytes_kernels) * each
                 : 0;
    case SchemeFamily::bitsandbytes:
      return 5 * each;
    default:
      return by_block ? 3 * each : 0;
  }
}

/// Kernels that copy keys and values for each query head, one each (repeat_kv).
double repeating_kernels(const Scenario& s, Range layers) {
  const ModelShape& shape = s.weights->model->shape;
  return s.runtime->kernels.repeats_kv && shape.kv_heads < shape.query_heads
             ? 2 * over(s.weights->model->profile.passes_before, layers)
             : 0;
}

}  // namespace

double kernels(const Scenario& s, Range layers) {
  const Profile& profile = s.weights->model->profile;
  const Engine& r = *s.runtime;
  const double extra = extra_kernels_per_product(s);
  // From Python all are called in turn; kernels of an engine's own loop over packed ones alone.
  const bool per_expert =
      r.kernels.per_expert_kernels &&
      (r.kernels.launch == Launch::overlapped || s.weights->arithmetic == Arithmetic::dequantised);
  const auto of_experts = per_expert ? static_cast<double>(profile.routing.experts) *
                                           (r.kernels.expert_kernels.value + 3 * extra)
                                     : r.kernels.moe_kernels_per_layer.value + 2 * extra;
  return over(profile.kernels_before, layers) + repeating_kernels(s, layers) +
         extra * over(profile.matrices_before, layers) +
         over(profile.mixtures_before, layers) * of_experts;
}

}  // namespace headroom::model
