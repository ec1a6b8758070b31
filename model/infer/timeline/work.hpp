// What a pass reads and multiplies of each part of a model: the roofline's ingredients.
#pragma once

#include "model/infer/timeline/pass.hpp"

namespace headroom::model {

/// What one pass does on one kind of device.
struct Work {
  double weight_bytes = 0;   ///< weights read from the device's memory
  double expert_bytes = 0;   ///< of them routed experts
  double cache_bytes = 0;    ///< caches read
  double repeated = 0;       ///< keys and values copied before attention, bytes in 16 bit
  double scores = 0;         ///< attention scores that stand in memory
  double channels = 0;       ///< tokens * hidden size * layers whose activations go through memory
  double packed_bytes = 0;   ///< weights that are unpacked to meet tokens, as they are packed
  double packed_caches = 0;  ///< the same of caches
  double prefill_expert_bytes = 0;  ///< of routed experts that a prompt touches
  double flops = 0;  ///< multiplications and additions of matrices and attention scores
  double attention_flops =
      0;  ///< of them those of a prompt's scores: in 16 bit, whatever weights are
  double wave_quantisation_flops =
      0;  ///< that multiprocessors could do while others attend, beside flops
};

inline Work operator+(const Work& a, const Work& b) {
  return {a.weight_bytes + b.weight_bytes,
          a.expert_bytes + b.expert_bytes,
          a.cache_bytes + b.cache_bytes,
          a.repeated + b.repeated,
          a.scores + b.scores,
          a.channels + b.channels,
          a.packed_bytes + b.packed_bytes,
          a.packed_caches + b.packed_caches,
          a.prefill_expert_bytes + b.prefill_expert_bytes,
          a.flops + b.flops,
          a.attention_flops + b.attention_flops,
          a.wave_quantisation_flops + b.wave_quantisation_flops};
}
/// What layers do, and what of it reads and multiplies caches and their scores: that is done where
/// the caches are.
struct LayerWork {
  Work all, attention;
};
/// The roofline's ingredients of `piece`, and of the head.
LayerWork layer_work(const Scenario& scenario, const Pass& pass, const LayerSpan& piece);
inline Work work_of(const Scenario& scenario, const Pass& pass, const LayerSpan& piece) {
  return layer_work(scenario, pass, piece).all;
}
Work head_work(const Scenario& scenario, const Pass& pass);
/// The attention of `layers` alone.
Work attention_work(const Scenario& scenario, const Pass& pass, Range layers);
/// Idle time of multiprocessors while a prompt attends, by that in which they work: blocks of
/// attention_rows queries of one head go through a card two at once on each, and the last round
/// of them does not fill it. Of heads that `shards` cards divide; 0 where it is not known.
double idle_share(const Scenario& scenario, const Pass& pass, Size shards = 1);
/// `work` without `part` of it, which attention is.
inline Work without(Work work, const Work& part) {
  work.cache_bytes -= part.cache_bytes;
  work.repeated -= part.repeated;
  work.packed_caches -= part.packed_caches;
  work.scores -= part.scores;
  work.flops -= part.flops;
  work.attention_flops -= part.attention_flops;
  work.wave_quantisation_flops -= part.wave_quantisation_flops;
  return work;
}
/// What of `work` the CPU does beside `attention`: what experts cost on a card, and its tiles, say
/// nothing of the CPU, whose rates are measured on experts.
inline Work matrices_on_cpu(const Work& work, const Work& attention) {
  Work matrices = without(work, attention);
  matrices.expert_bytes = matrices.prefill_expert_bytes = 0;
  return matrices;
}
/// Of layers `range` that are on cards: what tensors that stay in host memory cost.
Work host_work(const Scenario& scenario, const Pass& pass, Range range);
/// … and how many of them have such tensors.
double host_layers(const Scenario& scenario, const Pass& pass, Range range);
/// Bytes of `piece` that a streaming runtime moves: whole modules, all experts included, each time
/// that they run.
double streamed_bytes(const Scenario& scenario, const Pass& pass, const LayerSpan& piece);

}  // namespace headroom::model
