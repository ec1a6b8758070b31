// What the cards of a training step send each other, and how long links take to carry it.
//
// Cards are numbered as Megatron-LM and torch's device meshes number them: those that divide
// matrices are neighbours, then those that divide sequences, then replicas (experts are spread over
// the last two), and stages are furthest apart. A box holds so many cards in that order.
//
// A ring (all-gather, reduce-scatter, all-reduce) goes from card to card inside a box and leaves it
// once, whatever number of the group's cards the box holds, each channel by an interface of its
// own. So the groups that a box's cards belong to share its network, not its cards:
//
//   seconds = bytes * (n - 1) / n / min(link, network * cards of the group in a box / cards of a
//   box)
//
// Of an all-to-all every card sends the share of cards in other boxes by its own part of the
// network. Sources: NVIDIA/nccl src/graph/connect.cc (one channel an interface, rings through all
// nodes), nccl-tests doc/PERFORMANCE.md (bus bandwidth: (n - 1) / n of the bytes, 2 (n - 1) / n for
// all-reduce); Megatron-LM core/parallel_state.py (order tp-cp-ep-dp-pp). A ring's latency: its
// steps, at 3.4 us inside a box and 14 us between boxes (nccl src/graph/tuning.cc, hwLat of
// Simple). Left out: congestion, interfaces that fewer cards than one share.
#pragma once

#include "model/train/shape.hpp"

namespace headroom::model {

/// Cards that exchange, `stride` of all cards from one to the next.
struct Group {
  Size cards = 1, stride = 1;
};

/// Bytes a second that a ring passes on; 0: no link.
double ring_rate(const Machine& machine, const Group& group);
/// Seconds in which a ring gathers or reduces `bytes`, which all its cards have together.
double ring_seconds(const Machine& machine, const Group& group, double bytes);
/// Seconds from a ring's first card to its last one.
double ring_latency(const Machine& machine, const Group& group);
/// Seconds in which every card sends `bytes`, evenly to all of the group: `copies` of each token,
/// of which a box is sent one and hands it on.
double all_to_all_seconds(const Machine& machine, const Group& group, double bytes,
                          double copies = 1);

/// Bytes that one card sends, and seconds at the full rate of the links.
struct Sent {
  double bytes = 0, seconds = 0;
};
inline Sent operator+(Sent a, Sent b) { return {a.bytes + b.bytes, a.seconds + b.seconds}; }
inline Sent operator*(double times, Sent sent) {
  return {times * sent.bytes, times * sent.seconds};
}

/// Exchanges of a step, and the latency of those of a pass.
struct Exchange {
  // Of a pass, which waits for them.
  Sent matrices;  ///< sums over the cards of a matrix
  Sent experts;   ///< tokens to their experts and back
  Sent stages;    ///< activations to the next stage, their gradients to the one before
  // Of a pass, behind its attention: where sequences are divided.
  Sent keys;  ///< keys and values around the ring, and back with their gradients
  // Of a pass, beside it: where weights are shared out.
  Sent gathered;  ///< weights
  Sent reduced;   ///< gradients
  // Once a step.
  Sent gradients;  ///< reduced, and without ZeRO handed out again
  Sent weights;    ///< gathered, where states are shared out
  double latency = 0;

  double inside() const { return matrices.seconds + experts.seconds + stages.seconds; }
  double pass() const { return gathered.seconds + reduced.seconds; }
  double step() const { return gradients.seconds + weights.seconds; }
};

/// `tokens`: of a pass on a card; `routed`: elements that tokens bring to
/// experts; `again`: the share of forward that is made again, `attention_again` of attention.
struct Carried {
  Stage stage;
  double tokens = 0, routed = 0, again = 0, attention_again = 0;
};
Exchange exchange_of(const TrainingScenario& scenario, const StageShape& stage,
                     const TrainingEstimate& memory, const Carried& carried,
                     const Machine& machine);

}  // namespace headroom::model
