// How fast devices do the work of a pass. model/infer/timeline/speed.cpp adds it up over a
// placement.
#pragma once

#include "model/infer/timeline/work.hpp"

namespace headroom::model {

/// Seconds beside the roofline: of every kernel, of the pass and of every sequence in it.
/// `kernels`: of the pass's layers, seconds.
double launches(const Scenario& scenario, const Pass& pass, double kernels);
double launches(const Scenario& scenario, const Pass& pass);

/// What a device reaches: bytes, bytes copied before attention, FLOPs of matrices and of a prompt's
/// scores a second; seconds that an attention score in memory costs, a channel of activations
/// there, and a packed byte of weights that is unpacked into memory; times that experts of a prompt
/// are read beside their products; bytes of weights that take as long as one of caches, and as one
/// of routed experts; seconds that a packed byte of caches costs that is unpacked into memory.
struct Rate {
  double bytes_s = 0, repeat_s = 0, flops_s = 0, attend_s = 0;
  double score_s = 0, channel_s = 0, unpack_s = 0, expert_reads = 0;
  double cache_weight = 1, expert_weight = 1, unpack_cache_s = 0;

  bool operator==(const Rate&) const = default;
};
/// Bytes that are read of weights and of caches: experts and caches by the other weights that would
/// take as long.
double weight_read(const Work& work, const Rate& rate);
double cache_read(const Work& work, const Rate& rate);
/// Seconds beside the products, whatever those wait for: reading caches, unpacking and copying
/// them.
double between_products(const Work& work, const Rate& rate);
/// Kernels that follow each other, seconds: products, scores, then what goes through memory beside
/// them. Each routed expert starts tiles of its own with the few tokens that it gets: its weights
/// are not read behind the products of others but beside them, at the card's bandwidth, however
/// fast it multiplies: measured with llama.cpp on cards that multiply by 4 tokens (MI100) and by 60
/// (GB10) in the time of reading.
double compute_seconds(const Work& work, const Rate& rate);
/// The roofline: max(weights / bandwidth, compute_seconds) + caches + repeated / copying. Caches
/// are read by attention, which runs between products. Copying keys and values, with new ones
/// behind them or for every query head, is bound by the kernel's index arithmetic: measured at 5 ps
/// an element, of both copies, on cards whose bandwidth differs twofold (Qwen's pages of A100 and
/// H20).
double seconds(const Work& work, const Rate& rate);
/// Constants for the weights of the scenario on `device`, or without any card.
const Rates& rates_on(const Scenario& scenario, const Device& device);
const Rates& rates_of(const Scenario& scenario);
/// The card's dense peak for products of these weights, as the engine makes them, FLOPs a second.
double product_peak(const Scenario& scenario, const Device& device);
/// Share of that peak that products reach by its `rates`: of 16 bit and others, or of bytes; of
/// what is unpacked to 16 bit no more than of 16 bit.
const Constant& product_share(const Scenario& scenario, const Device& device, const Rates& rates);
/// Whether packed weights are unpacked into memory before many tokens are multiplied by them.
bool unpacks_into_memory(const Scenario& scenario, const Device& device);
Rate card_rate(const Scenario& scenario, const Device& device);
/// Where a pass of so many tokens multiplies by host layers: on a card only if there is one, and a
/// chip whose memory is the host's has nothing to copy.
PrefillOffload host_prompts(const Scenario& scenario, double tokens);
/// Attention on the CPU whose rates are `cpu`: row by row, that of a prompt at an eighth of the
/// rate of products of bytes, that of a single token, whose rows meet nothing else, at a sixteenth.
/// On a Ryzen 9 7950X (2.3 TFLOPS): 98 GFLOPS of Llama-3.1-8B from 128 to 8192 tokens
/// (ikawrakow/ik_llama.cpp pull request 207), with llama.cpp 93 of SmolLM3-3B from 2048 to 6144 and
/// 318 of its prompts (pull request 934).
double cpu_attention_seconds(const Work& attention, const Rate& cpu);
/// Of n sockets, (1 + (n - 1) * far) / n of their bandwidth and peak: threads of one reach the
/// memory of another over a slower link, unless an engine keeps a copy of the weights on each
/// (measured with ktransformers on one and two Xeons: its DeepseekR1_V3_tutorial.md). Of fewer
/// threads than physical cores each reads at most thread_bandwidth, and multiplies 1.3 times a
/// core's share: the peak is at the base clock, and few cores run faster (data sheets:
/// i5-13600K 3.5 and 5.1 GHz, EPYC 7763 2.45 and 3.5, Ryzen 9 7950X 4.5 and 5.7 at most). More
/// threads wait for the same units.
Rate cpu_rate(const Scenario& scenario);
/// Start of an all-reduce of so many cards: over their own links, or over the host's bus, which
/// none of PCIe 5.0 is faster than 64 GB/s. From 2 to 8 cards it is the same
/// (mlc-ai/llm-perf-bench, CodeLlama-34B on 2, 4 and 8 A10G).
const Constant& reduce_latency(const Scenario& scenario, Size cards);
/// Bytes a second between so many cards, over the bus to the first one, and from disk.
double link_rate(const Scenario& scenario, Size cards);
double bus_rate(const Scenario& scenario);
double disk_rate(const Scenario& scenario);

}  // namespace headroom::model
