// Which layers are on which card, in host memory and on disk, for one scenario.
//
// Layers are filled in their order and never split: a runtime that streams offloaded weights keeps
// the first layers on the cards, one that computes on the CPU keeps the last ones there (llama.cpp
// -ngl). The exact map of accelerate is a separate mapper; this one is what memory and speed of a
// grid point rest on.
#pragma once

#include <array>

#include "model/estimate.hpp"

namespace headroom::model {

enum class Where : std::uint8_t { card, cpu, disk };

/// Layers [first, last).
struct Range {
  Size first = 0, last = 0;
  Size size() const { return last - first; }
};

/// A placement and what it holds. Ranges are contiguous and cover every layer once.
struct Plan {
  static constexpr Size most_cards = 64;  ///< cards that a layer split or one replica may use

  Reason reason = Reason::none;   ///< none: feasible
  Bytes short_bytes;              ///< what is missing where it is not
  Size cards = 0;                 ///< cards used
  Size shards = 1;                ///< cards that split each matrix (tensor parallelism)
  Size stages = 1;                ///< groups of cards that follow each other (pipeline parallelism)
  bool computes_on_card = false;  ///< false: everything runs on the CPU
  Range on_cards, on_cpu, on_disk;
  std::array<Size, most_cards + 1> cut;  ///< card i (or stage i) holds layers [cut[i], cut[i + 1])
  Where embedding = Where::card, head = Where::card;
  Bytes stage_buffer;  ///< on the first card, for weights that are streamed through it
  bool feasible() const { return reason == Reason::none; }
};

/// The placement under budgets divided by `memory_factor`: 1 for the expected memory, the ends of
/// the memory interval for the verdict's sureness.
Plan place(const Scenario& scenario, double memory_factor);

/// What card `card` holds under `plan`. `fragmentation` is the allocator's share.
struct CardUse {
  Bytes weights, kv_cache, activations, context, fragmentation;
  Bytes total() const { return weights + kv_cache + activations + context + fragmentation; }
};
CardUse card_use(const Scenario& scenario, const Plan& plan, Size card);

/// What host memory holds: offloaded weights, caches of layers computed there, the process itself.
struct HostUse {
  Bytes weights, kv_cache, activations, process;
  Bytes total() const { return weights + kv_cache + activations + process; }
};
HostUse host_use(const Scenario& scenario, const Plan& plan);
/// Weights that stay on disk.
Bytes disk_use(const Scenario& scenario, const Plan& plan);

/// All that the process may use on `card`: the budget, at most the memory there is, or the
/// runtime's share of it when no budget is given.
Bytes card_budget(const Scenario& scenario, std::size_t card);

/// Bytes of layers [range).
Bytes layer_bytes(const Weights& weights, Range range);

}  // namespace headroom::model
