// The set-up of a block of points: scenarios that differ in sizes (batch, tokens) and budgets
// alone.
#pragma once

#include <algorithm>
#include <array>
#include <vector>

#include "model/infer/placement/held.hpp"
#include "model/infer/placement/known_plans.hpp"

namespace headroom::model {

class Setup {
 public:
  explicit Setup(const Scenario& scenario);

  /// Cards that split each matrix.
  Size shards() const { return shards_; }
  /// An engine that splits matrices has a division: how cards divide them, or the reason why they
  /// cannot. It is not asked whether that fits.
  const Plan& division() const { return division_; }

  /// A card on its own, whatever the plan is.
  struct Card {
    Bytes memory;   ///< usable_memory()
    Bytes own;      ///< budget without one in bytes
    Bytes most;     ///< the most of a budget in bytes
    Bytes context;  ///< driver_context()
    Workspace workspace;
  };
  const Card& card(Size number) const { return cards_[static_cast<std::size_t>(number)]; }
  /// As card_budget().
  Bytes budget(const Scenario& s, Size number) const { return budget(s, card(number)); }
  /// The smallest budget and the smallest memory of the cards that divide the matrices of a stage,
  /// from `first` on.
  Limits limits(const Scenario& s, Size first) const {
    const Card& least = least_[static_cast<std::size_t>(first / shards_)];
    return {budget(s, least), least.memory};
  }

  /// Cards of a division that follow each other and hold as much each are of one kind. Kinds are
  /// numbered from 0 in the order of the cards.
  Size kind(Size number) const { return kind_[static_cast<std::size_t>(number)]; }
  const HeldBytes& held(Size kind) const { return held_[static_cast<std::size_t>(kind)]; }
  /// state_block() of a card of a division (model/infer/placement/cache_room.hpp).
  Bytes state_block(Size number) const {
    return kind_.empty() ? Bytes(0) : state_blocks_[static_cast<std::size_t>(kind(number))];
  }
  /// The first card of a kind.
  Size first_of(Size kind) const { return first_[static_cast<std::size_t>(kind)]; }

  /// Host memory under the division.
  const HostUse& held_by_host() const { return host_; }
  /// True if the CPU runs the weights as they are loaded.
  bool runs_on_cpu() const { return runs_on_cpu_; }

  const CacheRules& caches() const { return caches_; }
  const TokenBytes& token() const { return token_; }
  /// Plans of engines that do not divide matrices.
  KnownPlans& plans() const { return plans_; }
  /// As Uses::nearest(), by kind, then by factor.
  mutable std::array<Size, 9> nearest{-1, -1, -1, -1, -1, -1, -1, -1, -1};
  /// The power of two at which the last search for a number of sequences ended: a next one starts
  /// there. It ends at the same from any start. -1: at the batch. By factor: 1, above 1.
  mutable std::array<Size, 2> nearest_number{-1, -1};
  /// Bytes that a byte of weights or caches takes, the allocator's shares included.
  double taken() const { return taken_; }

 private:
  Bytes budget(const Scenario& s, const Card& card) const {
    return card_budget_within(s.gpu_budget, card.own, card.most, largest_own_);
  }
  void divide_cards(const Scenario& s);

  Plan division_;
  Size shards_;
  std::vector<Card> cards_, least_;
  Bytes largest_own_;        ///< largest_own_budget()
  std::vector<Size> kind_;   ///< by card
  std::vector<Size> first_;  ///< by kind, as held_
  std::vector<HeldBytes> held_;
  std::vector<Bytes> state_blocks_;  ///< by kind
  HostUse host_;
  bool runs_on_cpu_;
  CacheRules caches_;
  TokenBytes token_;
  double taken_;
  mutable KnownPlans plans_;
};

template <class F>
Bytes Uses::alone(Alone kind, Size n, F&& plan) const {
  KnownAlone& known = setup_.plans().alone(kind, n, [&](KnownAlone& made) {
    made.plan = plan();
    made.card.held = held_on(s_, made.plan, 0);
  });
  return asked(known.card, known.plan, 0).total();
}

}  // namespace headroom::model
