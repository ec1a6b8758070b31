// What devices reach for one model in one precision under one engine: worked out once for all
// passes.
#pragma once

#include <vector>

#include "model/speed/rates.hpp"

namespace headroom::model {

struct Speeds {
  /// Of the first `count` cards of the scenario's machine, or as many as it has.
  Speeds(const Scenario& scenario, Size count);

  struct Card {
    Rate rate;
    bool products_measured = false;  ///< a measurement stands behind its rate of products
    bool reads_measured = false;     ///< … and of reading weights
  };
  const Card& card(Size number) const { return cards[static_cast<std::size_t>(number)]; }

  std::vector<Card> cards;
  Rate cpu;
};

}  // namespace headroom::model
