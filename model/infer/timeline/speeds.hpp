// Throughput of devices and links for one model in one precision under one engine, computed once
// for all passes.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <vector>

#include "model/infer/memory/activation.hpp"
#include "model/infer/timeline/known_passes.hpp"
#include "model/infer/timeline/known_sums.hpp"
#include "model/infer/timeline/throughput.hpp"

namespace headroom::model {

struct Speeds {
  /// Speeds of the CPU and of links alone.
  explicit Speeds(const Scenario& scenario);
  Speeds(const Scenario& scenario, const Plan& plan) : Speeds(scenario) { know(scenario, plan); }
  /// Adds the plan's cards, at least the first.
  void know(const Scenario& scenario, const Plan& plan);
  /// Likewise, and passes in `known` are under this plan then.
  void know_passes(const Scenario& scenario, const Plan& plan) {
    know(scenario, plan);
    known.under(plan, scenario.gpu_budget);
  }

  struct Card {
    Throughput rate;
    BytesPerSecond bandwidth;        ///< the data sheet's value
    FlopsPerSecond peak;             ///< the data sheet's value, for products of these weights
    bool products_measured = false;  ///< a measurement stands behind its rate of products
    bool reads_measured = false;     ///< … and of reading weights

    bool operator==(const Card&) const = default;
  };
  const Card& card(Size number) const { return cards[static_cast<std::size_t>(number)]; }

  /// Between cards that exchange what they compute.
  struct Link {
    BytesPerSecond bytes_s;
    const Constant* start = nullptr;  ///< reduce_latency()
    LinkPath path = LinkPath::bus;
    const Engine* engine = nullptr;

    Seconds start_of(Size meeting) const { return reduce_start(*engine, *start, path, meeting); }
  };
  /// Kernels of a pass's layers.
  double kernels(const Scenario& scenario, const Pass& pass) const {
    return pass.layers == decoding ? decoding_kernels
                                   : headroom::model::kernels(scenario, pass.layers);
  }
  /// Layers of a stage whose matrices its cards divide.
  struct RankSums {
    LayerSums all;      ///< sums of all cards; the caches are those of each
    RealBytes others;   ///< bytes that each card reads, all but routed experts
    RealBytes experts;  ///< … of routed experts, if all of them are read
  };
  /// Those of the decoder's layers in a stage.
  const RankSums& rank_sums(Size stage) const { return stages[static_cast<std::size_t>(stage)]; }
  /// Those of layers `run` of the stage that starts at card `first`.
  RankSums rank_sums(const Scenario& scenario, const Plan& plan, Size first, Range run) const;
  /// Sums over those of `layers` that the pass runs, on one card. Valid until the next call.
  const LayerSums& sums(const Scenario& scenario, const Pass& pass, const LayerSpan& layers) const {
    return known_sums.of(scenario, attention, intersect(layers.layers, pass.layers),
                         layers.content);
  }
  const Link& link(Size meeting) const {
    return meeting > in_a_box ? between_boxes : meeting <= 2 ? pair : inside;
  }

  /// Attention on cards that divide each matrix.
  const AttentionRules& divided_attention() const { return *of_rank; }

  AttentionRules attention;               ///< attention on one card
  std::optional<AttentionRules> of_rank;  ///< known with the plan's cards
  std::vector<Card> cards;
  std::vector<Size> next_unlike;  ///< for each card, the first after it of another speed
  std::vector<RankSums> stages;   ///< if cards divide matrices
  Throughput cpu;
  Seconds kernel_s;         ///< time of each kernel
  bool launches_hide;       ///< behind kernels on cards; kernels on the CPU wait for launches
  ChunkRule chunk;          ///< chunks of prompts
  Range decoding;           ///< layers
  double decoding_kernels;  ///< number of those kernels
  BytesPerSecond bus;       ///< to the first card
  Size in_a_box = std::numeric_limits<Size>::max();
  Link pair, inside, between_boxes;
  KnownPasses known;  ///< passes at these speeds
  mutable KnownSums known_sums;
};

/// Seconds that `work` takes at the full rates of the data sheet: its bytes and products, nothing
/// else.
inline Seconds min_seconds(const Work& work, const Speeds::Card& card) {
  return std::max((work.weight_bytes + work.cache_bytes) / card.bandwidth,
                  (work.flops - work.attention_flops) / card.peak);
}

}  // namespace headroom::model
