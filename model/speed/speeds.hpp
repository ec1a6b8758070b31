// What devices reach for one model in one precision under one engine: worked out once for all
// passes.
#pragma once

#include <algorithm>
#include <vector>

#include "model/speed/rates.hpp"

namespace headroom::model {

struct Speeds {
  /// Of the first `count` cards of the scenario's machine, or as many as it has.
  Speeds(const Scenario& scenario, Size count);

  struct Card {
    Rate rate;
    double bandwidth = 0, peak = 0;  ///< of its data sheet: bytes and FLOPs of products a second
    bool products_measured = false;  ///< a measurement stands behind its rate of products
    bool reads_measured = false;     ///< … and of reading weights
  };
  const Card& card(Size number) const { return cards[static_cast<std::size_t>(number)]; }

  std::vector<Card> cards;
  Rate cpu;
};

/// Seconds that `work` takes where nothing is lost: its bytes and products at full rates. Nothing
/// else of it is counted.
inline double least_seconds(const Work& work, const Speeds::Card& card) {
  return std::max((work.weight_bytes + work.cache_bytes) / card.bandwidth,
                  (work.flops - work.attended) / card.peak);
}

}  // namespace headroom::model
