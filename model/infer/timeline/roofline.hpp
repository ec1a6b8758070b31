// The time that work takes at a device's rates, operation by operation.
#pragma once

#include <algorithm>

#include "model/infer/timeline/work.hpp"

namespace headroom::model {

/// The throughput of a device.
struct Throughput {
  BytesPerSecond bytes_s{};   ///< weights and caches read
  BytesPerSecond repeat_s{};  ///< keys and values copied before attention
  FlopsPerSecond flops_s{};   ///< products of matrices
  FlopsPerSecond attend_s{};  ///< a prompt's scores
  Seconds score_s{};          ///< an attention score in memory
  Seconds channel_s{};        ///< a channel of activations in memory
  SecondsPerByte unpack_s{};  ///< a packed byte of weights that is unpacked into memory
  double expert_reads = 0;    ///< times that a prompt's experts are read besides their products
  double cache_weight = 1;    ///< bytes of weights that take as long as one of caches
  double expert_weight = 1;   ///< bytes of weights that take as long as one of routed experts
  SecondsPerByte unpack_cache_s{};  ///< a packed byte of caches that is unpacked into memory

  bool operator==(const Throughput&) const = default;
};

/// Bytes of weights that would take as long to read as the weights and experts of `work`.
constexpr RealBytes weight_read(const Work& work, const Throughput& rate) {
  if (work.expert_bytes == RealBytes()) return work.weight_bytes;
  return work.weight_bytes + (rate.expert_weight - 1) * work.expert_bytes;
}
/// Time to read the caches, likewise.
constexpr RealBytes cache_read(const Work& work, const Throughput& rate) {
  return rate.cache_weight * work.cache_bytes;
}

/// Seconds of each operation. Weights are read while products run; the other operations follow each
/// other.
struct Roofline {
  Seconds read_weights;
  // Products, and what kernels besides them move through memory.
  Seconds products;
  Seconds attention{};       ///< a prompt's scores, idle multiprocessors included
  Seconds score_traffic{};   ///< scores through memory
  Seconds activations{};     ///< activations through memory
  Seconds unpack_weights{};  ///< weights unpacked into memory
  Seconds expert_reads{};    ///< with few tokens, each expert has its own tiles. Its weights are
                             ///< read in parallel with the products of others. Measured with
                             ///< llama.cpp on cards that multiply by 4 (MI100) and 60 tokens (GB10)
                             ///< in the time of reading.
  // Attention of decode, which runs between products.
  Seconds read_cache;
  Seconds unpack_cache;
  Seconds repeat_kv{};  ///< bound by the kernel's index arithmetic: 5 ps an element for both copies
                        ///< on cards whose bandwidth differs twofold (Qwen's pages of A100 and H20)

  constexpr Seconds compute() const {
    return products + attention + score_traffic + activations + unpack_weights + expert_reads;
  }
  constexpr Seconds between_products() const { return read_cache + unpack_cache + repeat_kv; }
  constexpr bool is_memory_bound() const { return read_weights >= compute(); }
  constexpr Seconds total() const { return std::max(read_weights, compute()) + between_products(); }
};
constexpr Roofline roofline(const Work& work, const Throughput& rate) {
  Roofline r;
  r.read_weights = weight_read(work, rate) / rate.bytes_s;
  r.products = (work.flops - work.attention_flops) / rate.flops_s;
  if (work.attention_flops > Flops())
    r.attention = (work.attention_flops + work.wave_quantisation_flops) / rate.attend_s;
  r.score_traffic = work.scores * rate.score_s;
  r.activations = work.channels * rate.channel_s;
  r.unpack_weights = work.packed_bytes * rate.unpack_s;
  if (work.prefill_expert_bytes > RealBytes())
    r.expert_reads = rate.expert_reads * work.prefill_expert_bytes / rate.bytes_s;
  r.read_cache = cache_read(work, rate) / rate.bytes_s;
  r.unpack_cache = work.packed_cache_bytes * rate.unpack_cache_s;
  if (work.kv_repeat_bytes > RealBytes()) r.repeat_kv = work.kv_repeat_bytes / rate.repeat_s;
  return r;
}
constexpr Seconds seconds(const Work& work, const Throughput& rate) {
  return roofline(work, rate).total();
}

/// Attention on a CPU with rates `cpu`, row by row. A prompt's attention reaches an eighth of the
/// rate of products of bytes; a single token's reaches a sixteenth, because its rows meet nothing
/// else. On a Ryzen 9 7950X (2.3 TFLOPS): 98 GFLOPS with Llama-3.1-8B from 128 to 8192 tokens
/// (ikawrakow/ik_llama.cpp pull request 207); with llama.cpp 93 of SmolLM3-3B from 2048 to 6144
/// tokens and 318 of its prompts (pull request 934).
constexpr Roofline cpu_attention(const Work& attention, const Throughput& cpu) {
  const double slower = attention.attention_flops > Flops() ? 8 : 16;
  Roofline r;
  r.read_weights = (weight_read(attention, cpu) + cache_read(attention, cpu)) / cpu.bytes_s;
  r.products = slower * attention.flops / cpu.attend_s;
  return r;
}
constexpr Seconds cpu_attention_seconds(const Work& attention, const Throughput& cpu) {
  return cpu_attention(attention, cpu).total();
}
/// `all` on a CPU, `attention` of it included.
constexpr Seconds cpu_seconds(const Throughput& cpu, const Work& all, const Work& attention) {
  return seconds(matrices_on_cpu(all, attention), cpu) + cpu_attention_seconds(attention, cpu);
}

}  // namespace headroom::model
