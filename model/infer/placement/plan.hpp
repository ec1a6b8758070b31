// A placement: which layers are on which card, in host memory and on disk.
#pragma once

#include <boost/container/small_vector.hpp>

#include "model/checkpoint/shards.hpp"
#include "model/describe/layer_range.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/scenario/scenario.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

enum class Where : std::uint8_t { card, cpu, disk };

/// Part of a layer: all of it; all except its experts, caches included; only its experts.
enum class Content : std::uint8_t { whole, dense, experts };
/// Layers that follow each other, or the same part of each of them.
struct LayerSpan {
  Range layers;
  Content content = Content::whole;
};

/// A placement and what it holds. Ranges are contiguous and cover every layer once, and a tower of
/// images on the first card may stand apart from the other layers there. With an assignment they
/// only count the layers; model/infer/placement/assignment.hpp names each.
struct Plan {
  Reason reason = Reason::none;  ///< none: feasible
  Bytes short_bytes;             ///< missing memory, if it does not fit
  Size short_card = -1;          ///< with an assignment: the card that is short
  Size cards = 0;                ///< cards used: replica by replica, stage by stage
  Size shards = 1;               ///< cards that split each matrix (tensor parallelism)
  Size stages = 1;               ///< groups of cards that follow each other (pipeline parallelism)
  Size replicas = 1;             ///< replicas of the model (data parallelism)
  bool shared_experts = false;   ///< by the replicas: each holds a part of them
  bool shared_dense = false;     ///< feed-forwards and the output too: only the attention is copied
  Size expert_groups = 1;        ///< expert parallelism: groups of cards with experts of their own
  bool computes_on_card = false;  ///< false: everything runs on the CPU
  Range on_cards, on_cpu, on_disk;
  Range tower{0, 0};  ///< layers on the first used card although layers after them are on the CPU
  /// Card i (or stage i) holds layers [layer_boundaries[i], layer_boundaries[i + 1]).
  boost::container::small_vector<Size, 17> layer_boundaries;
  Where embedding = Where::card, head = Where::card;
  const Assignment* assignment = nullptr;  ///< null: the ranges above
  Size head_card = -1;          ///< the card with the output, if a card has it; -1: the last one
  Size first_used_card = 0;     ///< first card that is not passed over
  bool partly_on_host = false;  ///< some tensors of layers on cards stay in host memory
  Range host_experts{0, 0};     ///< layers whose routed experts are these, if the engine decides
  Bytes kept_on_disk;           ///< part of the tensors that stay in host memory although their
                                ///< layers are on cards: mapped, and too many for that memory
  Bytes streaming_buffer;       ///< on the first card, for weights that are streamed through it
  bool feasible() const { return reason == Reason::none; }
  Size stage_of(Size card) const {
    return replicas * shards == 1 ? card : card % (cards / replicas) / shards;
  }
  Range layers_in(Size stage) const {
    const auto i = static_cast<std::size_t>(stage);
    return {layer_boundaries[i], layer_boundaries[i + 1]};
  }
  Range layers_of(Size card) const { return layers_in(stage_of(card)); }
  bool has_head(Size card) const {
    if (head != Where::card) return false;
    return head_card >= 0 ? card == head_card : stage_of(card) == cards / (replicas * shards) - 1;
  }
  /// `card` among those that divide the matrices and the experts of its stage.
  Rank rank(Size card, const Engine& runtime) const {
    const Size replica = shared_experts ? card / (cards / replicas) : 0;
    return {.cards = shards,
            .expert_cards = shards * sharing(),
            .dense_cards = head_shards(),
            .expert_groups = expert_groups,
            .vocabulary_multiple = runtime.weights.vocabulary_multiple,
            .index = replica * shards + card % shards,
            .part_multiple = runtime.parallel.part_multiple,
            .shared_whole = runtime.parallel.shared_experts_whole};
  }
  /// Cards that divide feed-forwards and the output.
  Size head_shards() const { return shared_dense ? shards * replicas : shards; }
  /// Replicas whose tokens meet in the experts.
  Size sharing() const { return shared_experts ? replicas : 1; }
  CardGrid grid() const { return {shards, stages, sharing()}; }
  bool operator==(const Plan& other) const;
  /// True if each card holds the same under `other`, whatever is in host memory and on disk.
  bool is_alike_on_cards(const Plan& other) const;
};

/// True if `card` has any content. An unused card does not even have a context.
bool is_used(const Plan& plan, Size card);
Size cards_used(const Plan& plan);

}  // namespace headroom::model
