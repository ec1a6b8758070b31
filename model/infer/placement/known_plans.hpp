// Plans that were asked about before, and bytes on their cards: points of a block share many.
#pragma once

#include <array>
#include <boost/container/small_vector.hpp>
#include <vector>

#include "model/infer/placement/held.hpp"

namespace headroom::model {

/// A card under a plan.
struct KnownCard {
  HeldBytes held;
  Size asked_by = 0;  ///< number of the Uses that asked last; 0: none
  CardUse use;        ///< its answer
};

/// A plan of the first card alone, by its number n (Uses::alone).
struct KnownAlone {
  Size n = -1;  ///< -1: none yet
  Plan plan;
  KnownCard card;
};

/// A batch of which some sequences wait, and those that run (max_admitted).
struct KnownBatch {
  /// All that their number depends on in a block.
  struct Key {
    Size batch = 0, max_sequences = 0, prompt_tokens = 0, output_tokens = 0, context = 0,
         least_context = 0;
    Bytes gpu_budget, ram_budget, disk_budget;
    double memory_factor = 0;

    bool operator==(const Key&) const = default;
  };
  Key key;
  Size admitted = 0;
};

/// Plans of one block. A new plan replaces one with the same place in a table.
class KnownPlans {
 public:
  /// The next number of a Uses, from 1 on.
  Size next_number() { return ++number_; }

  /// `card` of `plan`, which uses it; `held()` works out what it holds where that is not known.
  template <class F>
  KnownCard& card(const Plan& plan, Size card, F&& held) {
    if (plans_.empty()) plans_.resize(plan_places);
    Known& known = plans_[static_cast<std::size_t>(plan.on_cards.size()) % plan_places];
    if (!known.plan.is_alike_on_cards(plan)) {
      known.plan = plan;
      known.cards.assign(static_cast<std::size_t>(plan.cards), KnownCard());
    }
    KnownCard& found = known.cards[static_cast<std::size_t>(card)];
    if (found.asked_by == 0) found.held = held();
    return found;
  }
  /// The plan of n; `make(known)` makes it and what it holds where that is not known.
  template <class F>
  KnownAlone& alone(Uses::Alone kind, Size n, F&& make) {
    std::vector<KnownAlone>& all = alone_[static_cast<std::size_t>(kind)];
    if (all.empty()) all.resize(places);
    KnownAlone& known = all[static_cast<std::size_t>(n) % places];
    if (known.n == n) return known;
    known.n = n;
    known.card.asked_by = 0;
    make(known);
    return known;
  }

  /// Those of the last batch that was asked about; `search()` finds them where it was another.
  template <class F>
  Size admitted(const KnownBatch::Key& key, F&& search) {
    if (!(batch_.key == key)) batch_ = {key, search()};
    return batch_.admitted;
  }

 private:
  /// Plans of a search are neighbours. Others, also with all layers, are asked for in turn.
  static constexpr std::size_t places = 16, plan_places = 2 * places;
  struct Known {
    Plan plan;
    boost::container::small_vector<KnownCard, 2> cards;
  };

  Size number_ = 0;
  std::vector<Known> plans_;
  std::array<std::vector<KnownAlone>, 3> alone_;  ///< by kind
  KnownBatch batch_;
};

}  // namespace headroom::model
