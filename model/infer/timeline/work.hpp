// Bytes that a pass reads and operations that it makes in each part of a model, for the roofline.
#pragma once

#include "hardware/units.hpp"
#include "model/infer/memory/attention_rules.hpp"
#include "model/infer/timeline/pass.hpp"

namespace headroom::model {

/// Work of one pass on one kind of device.
struct Work {
  RealBytes weight_bytes{};          ///< weights read from the device's memory
  RealBytes expert_bytes{};          ///< routed experts among weight_bytes
  RealBytes cache_bytes{};           ///< KV caches and state read
  RealBytes kv_repeat_bytes{};       ///< keys and values copied before attention, in 16 bit
  double scores = 0;                 ///< attention scores that stand in memory
  double channels = 0;               ///< tokens * hidden size * layers, if activations go to memory
  RealBytes packed_bytes{};          ///< weights that are unpacked to meet tokens, before unpacking
  RealBytes packed_cache_bytes{};    ///< caches that are unpacked, before unpacking
  RealBytes prefill_expert_bytes{};  ///< routed experts that a prompt reads
  Flops flops{};                     ///< FLOPs of matrices and attention scores
  Flops attention_flops{};           ///< a prompt's scores among `flops`, always in 16 bit
  Flops wave_quantisation_flops{};   ///< FLOPs that idle multiprocessors could do meanwhile, not in
                                     ///< `flops`
};

constexpr Work& operator+=(Work& sum, const Work& more) {
  sum.weight_bytes += more.weight_bytes;
  sum.expert_bytes += more.expert_bytes;
  sum.cache_bytes += more.cache_bytes;
  sum.kv_repeat_bytes += more.kv_repeat_bytes;
  sum.scores += more.scores;
  sum.channels += more.channels;
  sum.packed_bytes += more.packed_bytes;
  sum.packed_cache_bytes += more.packed_cache_bytes;
  sum.prefill_expert_bytes += more.prefill_expert_bytes;
  sum.flops += more.flops;
  sum.attention_flops += more.attention_flops;
  sum.wave_quantisation_flops += more.wave_quantisation_flops;
  return sum;
}
constexpr Work operator+(Work a, const Work& b) { return a += b; }

constexpr Work operator*(double share, const Work& work) {
  return {share * work.weight_bytes,
          share * work.expert_bytes,
          share * work.cache_bytes,
          share * work.kv_repeat_bytes,
          share * work.scores,
          share * work.channels,
          share * work.packed_bytes,
          share * work.packed_cache_bytes,
          share * work.prefill_expert_bytes,
          share * work.flops,
          share * work.attention_flops,
          share * work.wave_quantisation_flops};
}

/// Sums over layers that run, or over the same part of each of them, whatever a pass's sizes are.
struct LayerSums {
  Range layers;
  Content content = Content::whole;
  double dense = 0, routed = 0;  ///< bytes that a pass reads once: routed experts, all else
  double multiplied = 0;         ///< elements, as in Profile
  AttentionSums attention;       ///< experts have none

  /// Bytes that a streaming engine moves each time they run: whole modules, all experts included.
  RealBytes streamed_bytes() const { return RealBytes(dense) + RealBytes(routed); }
};
/// `rules`: of the card or of the cards that divide each matrix.
LayerSums sums_of(const Scenario& scenario, const AttentionRules& rules, Range layers,
                  Content content = Content::whole);

/// Work of layers, and the attention in it: what reads caches and multiplies scores, where the
/// caches are.
struct LayerWork {
  Work all, attention;
};
LayerWork layer_work(const Scenario& scenario, const AttentionRules& rules, const Pass& pass,
                     const LayerSums& of);
inline Work work_of(const Scenario& scenario, const Pass& pass, const LayerSpan& piece) {
  const AttentionRules rules(scenario);
  const Range run = intersect(piece.layers, pass.layers);
  return layer_work(scenario, rules, pass, sums_of(scenario, rules, run, piece.content)).all;
}
/// Work of layers on cards that divide each matrix: the caches that each card reads, and what all
/// cards compute. Left out: weights, and idle multiprocessors. `rules`: of so many cards.
Work divided_work(const Scenario& scenario, const AttentionRules& rules, const Pass& pass,
                  const LayerSums& of);
void add_head_work(const Scenario& scenario, const Pass& pass, Work& work);
inline Work head_work(const Scenario& scenario, const Pass& pass) {
  Work work;
  add_head_work(scenario, pass, work);
  return work;
}
/// Attention alone. `rules`: of one card.
Work attention_work(const Scenario& scenario, const AttentionRules& rules, const Pass& pass,
                    const LayerSums& of);

/// Idle time of multiprocessors while a prompt attends, as a share of their busy time. Each takes
/// two blocks at once, of attention_rows queries of one head; the last round of blocks does not
/// fill the card. `shards`: cards that divide the heads. 0 where the number of multiprocessors is
/// not known.
double idle_share(const Scenario& scenario, const Pass& pass, Size shards = 1);

/// `work` without the attention in it.
constexpr Work without(Work work, const Work& attention) {
  work.cache_bytes -= attention.cache_bytes;
  work.kv_repeat_bytes -= attention.kv_repeat_bytes;
  work.packed_cache_bytes -= attention.packed_cache_bytes;
  work.scores -= attention.scores;
  work.flops -= attention.flops;
  work.attention_flops -= attention.attention_flops;
  work.wave_quantisation_flops -= attention.wave_quantisation_flops;
  return work;
}
/// The matrices of `work` on the CPU. The extra cost of experts is a card's: CPU rates are measured
/// on experts.
constexpr Work matrices_on_cpu(const Work& work, const Work& attention) {
  Work matrices = without(work, attention);
  matrices.expert_bytes = matrices.prefill_expert_bytes = RealBytes();
  return matrices;
}

/// Work of tensors in host memory that belong to layers `range` on cards.
Work host_work(const Scenario& scenario, const Plan& plan, const Pass& pass, Range range);

}  // namespace headroom::model
