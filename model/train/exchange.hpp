// Traffic between the cards of a training step, and the time that links need for it.
//
// Cards are numbered as in Megatron-LM and torch's device meshes. Tensor-parallel cards are
// neighbours, then context-parallel cards, then replicas. Experts are spread over the last two.
// Pipeline stages are furthest apart. A box holds consecutive cards of that order.
//
// A ring (all-gather, reduce-scatter, all-reduce) passes from card to card inside a box and leaves
// the box once. Each channel uses its own network interface, whatever number of the group's cards
// the box holds. So the groups of a box's cards share its network, not its cards:
//
//   seconds = bytes * (n - 1) / n / min(link, network * cards of the group in a box / cards of a
//   box)
//
// In an all-to-all, each card sends the share for other boxes through its own part of the network.
// Sources: NVIDIA/nccl src/graph/connect.cc (one channel an interface, rings through all nodes),
// nccl-tests doc/PERFORMANCE.md (bus bandwidth: (n - 1) / n of the bytes, 2 (n - 1) / n for
// all-reduce); Megatron-LM core/parallel_state.py (order tp-cp-ep-dp-pp). The latency of a ring is
// that of its steps: 3.4 us inside a box and 14 us between boxes (nccl src/graph/tuning.cc, hwLat
// of Simple). Left out: congestion, and several cards on one interface.
#pragma once

#include "model/train/shape.hpp"

namespace headroom::model {

/// A communication group. Neighbours are `stride` cards apart in the order of all cards.
struct Group {
  Size cards = 1, stride = 1;
};

/// Links between the cards of a machine.
struct Links {
  Links(const Machine& machine);  // implicit: a machine has links
  Size box;                       ///< cards in a box; 0: all are in one
  BytesPerSecond inside;          ///< between two cards of a box
  BytesPerSecond network;         ///< one card's share of its box's network
};

/// Bandwidth of a ring. 0: no link.
BytesPerSecond ring_rate(const Links& links, const Group& group);
/// Seconds for a ring to gather or reduce `bytes`, the total of all its cards.
Seconds ring_seconds(const Links& links, const Group& group, RealBytes bytes);
/// Seconds from a ring's first card to its last.
Seconds ring_latency(const Links& links, const Group& group);
/// Seconds for every card to send `bytes` evenly to its group. Each token has `copies`; a box
/// receives one and distributes it.
Seconds all_to_all_seconds(const Links& links, const Group& group, RealBytes bytes,
                           double copies = 1);

/// Bytes that one card sends, and seconds at the links' full rate.
struct Sent {
  RealBytes bytes{};
  Seconds seconds{};
};
inline Sent operator+(Sent a, Sent b) { return {a.bytes + b.bytes, a.seconds + b.seconds}; }
inline Sent operator*(double times, Sent sent) {
  return {times * sent.bytes, times * sent.seconds};
}

/// Exchanges of a step.
struct Exchange {
  // Exchanges of a pass, which waits for them.
  Sent matrices;  ///< reductions over tensor-parallel cards
  Sent experts;   ///< tokens to their experts and back
  Sent stages;    ///< activations to the next stage, their gradients to the previous one
  // Exchanges of a pass behind its attention, if sequences are divided.
  Sent keys;  ///< keys and values around the ring, and back with their gradients
  // Exchanges of each pass if weights are sharded, otherwise once a step.
  Sent weights;    ///< gathered, where states are sharded
  Sent gradients;  ///< reduced, and without ZeRO distributed again
  bool in_each_pass = false;
  Seconds latency{};  ///< latency of the exchanges of a pass
};

/// `tokens`: tokens of a pass on a card. `routed`: elements that tokens bring to experts. `again`:
/// share of forward that is recomputed; `attention_again`: share of attention.
struct Carried {
  Stage stage;
  double tokens = 0, routed = 0, again = 0, attention_again = 0;
};
Exchange exchange_of(const TrainingScenario& scenario, const StageShape& stage,
                     const TrainingEstimate& memory, const Carried& carried,
                     const Machine& machine);

}  // namespace headroom::model
