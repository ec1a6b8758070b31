// What devices and links reach for one model in one precision under one engine: worked out once for
// all passes.
#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "model/infer/timeline/rates.hpp"

namespace headroom::model {

struct Speeds {
  /// Of the CPU and of links.
  explicit Speeds(const Scenario& scenario);
  Speeds(const Scenario& scenario, const Plan& plan) : Speeds(scenario) { know(scenario, plan); }
  /// From now on of the plan's cards too, and of the first.
  void know(const Scenario& scenario, const Plan& plan);

  struct Card {
    Rate rate;
    double bandwidth = 0, peak = 0;  ///< of its data sheet: bytes and FLOPs of products a second
    bool products_measured = false;  ///< a measurement stands behind its rate of products
    bool reads_measured = false;     ///< … and of reading weights

    bool operator==(const Card&) const = default;
  };
  const Card& card(Size number) const { return cards[static_cast<std::size_t>(number)]; }

  /// Between cards that exchange what they work out.
  struct Link {
    double bytes_s = 0;
    const Constant* start = nullptr;  ///< of an all-reduce, seconds
  };
  /// Kernels of a pass's layers.
  double kernels(const Scenario& scenario, const Pass& pass) const {
    return pass.layers == decoding ? decoding_kernels
                                   : headroom::model::kernels(scenario, pass.layers);
  }
  const Link& link(Size meeting) const { return meeting > in_a_box ? between_boxes : inside; }

  std::vector<Card> cards;
  std::vector<bool> repeats;  ///< of each card, whether the one before it is alike
  Rate cpu;
  double kernel_s = 0;  ///< of each kernel
  bool launches_hide;   ///< behind kernels on cards; those on the CPU are what launches wait for
  Range decoding;       ///< layers
  double decoding_kernels;  ///< of those
  double bus = 0;           ///< bytes a second to the first card
  Size in_a_box = std::numeric_limits<Size>::max();
  Link inside, between_boxes;
};

/// Seconds that `work` takes where nothing is lost: its bytes and products at full rates. Nothing
/// else of it is counted.
inline double least_seconds(const Work& work, const Speeds::Card& card) {
  return std::max((work.weight_bytes + work.cache_bytes) / card.bandwidth,
                  (work.flops - work.attention_flops) / card.peak);
}

}  // namespace headroom::model
