// One forward pass as the roofline sees it: what goes through the model, what each part of it reads
// and multiplies, and how fast devices do that. model/speed/speed.cpp adds it up over a placement.
#pragma once

#include "model/placement/placement.hpp"
#include "model/speed/speed.hpp"

namespace headroom::model {

/// One forward pass: how many tokens go through it and which of the model's layers run.
struct Pass {
  double tokens = 1;        ///< through the matrices, all sequences together
  double logit_rows = 1;    ///< positions whose logits are computed
  double weight_reads = 1;  ///< times the weights are read (chunks of a long prompt)
  Range layers;             ///< layers that run
  CachedTokens cached;      ///< decode only
  Size prompt = 0;          ///< prefill only
  double patch_flops = 0;   ///< of a vision tower: attention of the patches, in each layer
  double touched = 1;       ///< share of a layer's experts that are read each time
};

/// One step of decoding every sequence with `tokens` cached and `each` new ones.
Pass decode_pass(const Scenario& scenario, CachedTokens tokens, Size each = 1);
/// The prompts of all sequences. `prompt` in tokens per sequence.
Pass prefill_pass(const Scenario& scenario, Size prompt);
/// The images of all sequences through the vision tower. Every patch looks at all of its image:
/// 4 * patches^2 * hidden FLOPs a layer, the upper bound where windows are smaller.
Pass tower_pass(const Scenario& scenario);
/// What is repeated for every output token: a decode step at mean_tokens, or the whole prefix where
/// no cache is kept; the prompt where nothing is generated.
Pass step_pass(const Scenario& scenario);

Range intersect(Range a, Range b);

inline Work operator+(const Work& a, const Work& b) {
  return {a.weight_bytes + b.weight_bytes,
          a.expert_bytes + b.expert_bytes,
          a.cache_bytes + b.cache_bytes,
          a.repeated + b.repeated,
          a.scores + b.scores,
          a.channels + b.channels,
          a.packed_bytes + b.packed_bytes,
          a.padding + b.padding,
          a.flops + b.flops,
          a.attended + b.attended};
}
/// The roofline's ingredients of `piece`, and of the head.
Work work_of(const Scenario& scenario, const Pass& pass, const Piece& piece);
Work head_work(const Scenario& scenario, const Pass& pass);
/// Of the layers' work, what reads and multiplies caches and their scores: it is done where the
/// caches are.
Work attention_work(const Scenario& scenario, const Pass& pass, Range layers);
/// `work` without `part` of it, which attention is.
inline Work without(Work work, const Work& part) {
  work.cache_bytes -= part.cache_bytes;
  work.repeated -= part.repeated;
  work.scores -= part.scores;
  work.flops -= part.flops;
  work.attended -= part.attended;
  return work;
}
/// What of `work` the CPU does beside `attention`: what experts cost on a card, and its tiles, say
/// nothing of the CPU, whose rates are measured on experts.
inline Work matrices_on_cpu(const Work& work, const Work& attention) {
  Work matrices = without(work, attention);
  matrices.expert_bytes = matrices.padding = 0;
  return matrices;
}
/// Of layers `range` that are on cards: what tensors that stay in host memory cost.
Work host_work(const Scenario& scenario, const Pass& pass, Range range);
/// … and how many of them have such tensors.
double host_layers(const Scenario& scenario, const Pass& pass, Range range);
/// Bytes of `piece` that a streaming runtime moves: whole modules, all experts included, each time
/// that they run.
double streamed_bytes(const Scenario& scenario, const Pass& pass, const Piece& piece);
/// Layers that run, each as often as it does.
double runs(const Scenario& scenario, const Pass& pass);
/// Kernels of the layers that run, each as often as it does: those of the profile and, where
/// experts are routed to, mixture_kernels of all together or expert_kernels of each. Where FP8
/// weights have scales by block, activations get theirs before each product, in a kernel of its own
/// (vLLM 0.19 fp8_utils.py: per_token_group_quant_fp8); with one scale that is fused with what is
/// before.
double kernels(const Scenario& scenario, const Pass& pass);
/// Seconds beside the roofline: of every kernel, of the pass and of every sequence in it.
double launches(const Scenario& scenario, const Pass& pass);

/// Bytes that are read, experts and caches by the weights that would take as long.
double read_bytes(const Scenario& scenario, const Work& work);

/// What a device reaches: bytes, bytes copied for query heads, FLOPs of matrices and of a prompt's
/// scores a second; seconds that an attention score in memory costs, a channel of activations
/// there, and a packed byte of weights that is unpacked into memory.
struct Rate {
  double bytes_s = 0, repeat_s = 0, flops_s = 0, attend_s = 0;
  double score_s = 0, channel_s = 0, unpack_s = 0;
};
/// Kernels that follow each other, seconds: products, scores, then what goes through memory beside
/// them.
double compute_seconds(const Work& work, const Rate& rate);
/// The roofline: max(bytes / bandwidth, compute_seconds) + repeated / copying. Copying keys and
/// values for every query head is bound by the kernel's index arithmetic: measured at the same rate
/// on cards whose bandwidth differs twofold.
double seconds(const Scenario& scenario, const Work& work, const Rate& rate);
/// Constants for the weights of the scenario on `device`, or without any card.
const Rates& rates_on(const Scenario& scenario, const Device& device);
const Rates& rates_of(const Scenario& scenario);
/// Share of the card's dense peak that products reach by its `rates`: of 16 bit and others, or of
/// bytes.
const Constant& product_share(const Scenario& scenario, const Device& device, const Rates& rates);
/// Whether packed weights are unpacked into memory before many tokens are multiplied by them.
bool unpacks_into_memory(const Scenario& scenario, const Device& device);
Rate card_rate(const Scenario& scenario, const Device& device);
/// Where a pass of so many tokens multiplies by host layers: on a card only if there is one, and a
/// chip whose memory is the host's has nothing to copy.
HostPrompts host_prompts(const Scenario& scenario, double tokens);
/// Attention on the CPU: row by row, at an eighth of the rate of matrices. Llama-3.1-8B at 8192
/// tokens takes 44 ms more than at 128 on a Ryzen 9 7950X (ikawrakow/ik_llama.cpp pull request
/// 207), 98 GFLOPS.
double cpu_attention_seconds(const Scenario& scenario, const Work& attention);
/// Of n sockets, (1 + (n - 1) * far) / n of their bandwidth and peak: threads of one reach the
/// memory of another over a slower link, unless an engine keeps a copy of the weights on each
/// (measured with ktransformers on one and two Xeons: its DeepseekR1_V3_tutorial.md).
Rate cpu_rate(const Scenario& scenario);
/// Start of an all-reduce of so many cards: over their own links, or over the host's bus, which
/// none of PCIe 5.0 is faster than 64 GB/s. From 2 to 8 cards it is the same
/// (mlc-ai/llm-perf-bench, CodeLlama-34B on 2, 4 and 8 A10G).
const Constant& reduce_latency(const Scenario& scenario, Size cards);
/// Bytes a second over the bus to the first card, and from disk.
double bus_rate(const Scenario& scenario);
double disk_rate(const Scenario& scenario);

}  // namespace headroom::model
