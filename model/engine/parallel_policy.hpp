// How several cards share a model.
#pragma once

#include <string_view>
#include <vector>

#include "model/engine/cards_from.hpp"
#include "model/engine/constant.hpp"

namespace headroom::model {

enum class Split { layers, tensors };

/// Over which cards an engine spreads whole experts under expert parallelism.
enum class ExpertSpread {
  none,  ///< it divides each expert, or places its layers card by card
  all,   ///< all that share a stage, replicas included, which share the experts in any case
  some,  ///< a divisor of the tensor-parallel cards, which must divide the experts too. The other
         ///< cards take equal parts of each expert. Replicas have experts of their own
};

struct ParallelPolicy {
  Split split;
  bool tensor_parallel_layers;  ///< cards divide each layer's matrices as with Split::tensors.
                                ///< Their memory is counted as whole layers; only latent caches
                                ///< differ, because each card has all of them
  /// Its own word for dividing each matrix, where that is an option: "tensor". Empty: none.
  std::string_view split_mode;
  bool parts_may_differ;  ///< any number of cards divides a model, into parts that may differ
  /// Parts of feed-forwards end at multiples of so many columns and of the format's block, rounded
  /// down. 0: parts are even.
  Size part_multiple;
  bool shared_experts_whole;  ///< each card has all of the experts that every token uses
  std::vector<std::string_view> undivided_classes;  ///< those of its classes that are not divided
  bool
      stage_a_box;  ///< each of several boxes has a stage of layers, unless a division is asked for
  ExpertSpread expert_spread;
  /// With experts spread over more cards than a replica has, its replicas are of the attention
  /// alone. All their cards divide the rest: experts, feed-forwards and the output.
  bool attention_replicas;
  /// Cards that its all-reduce runs on; empty: all. Others copy, which takes a handoff between
  /// devices (OffloadPolicy::device_handoff_s).
  std::vector<CardsFrom> reduce_cards;
  /// Most cards on a bus whose all-reduce is a kernel of its own, which reads the others' memory.
  /// It needs peer access. 1: over links of the cards' own alone. 0: NCCL's ring everywhere.
  Size bus_kernel_cards;
  bool reduces_in_host_memory;     ///< on NVIDIA's cards, whatever links they have
  Constant reduce_latency_s;       ///< start of one all-reduce, seconds; two a layer
  Constant reduce_over_bus_s;      ///< as above, between two cards that meet over the host's bus
  Constant reduce_over_network_s;  ///< as above, between cards of several boxes
  Constant link_bandwidth;         ///< share of the link between cards that an exchange reaches
};

}  // namespace headroom::model
