// Several models on equal machines: how many machines their loads take, and where each copy runs.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/infer/demand.hpp"

namespace headroom::model {

/// A model that must be served, with what its users ask for.
struct Load {
  std::string name;
  Scenario request;  ///< without a machine
  Target target;     ///< with a demand: users, requests_s or output_tokens_s above 0
};

/// A card is divided into so many parts; a copy of a model takes some of one card, or whole cards.
inline constexpr Size parts_of_a_card = 4;

/// One way to run a load on a kind of machine.
struct ServingOption {
  Size parts = 0;     ///< parts of a card for one copy; a machine without cards counts as one
  double demand = 0;  ///< in copies: what the load asks for over what one copy gives
  /// One copy: `replicas` is that of its attention, each with `batch` sequences.
  Serving serving;
  Scenario scenario;                          ///< scenario of one copy, without its machine
  std::shared_ptr<const MachineShare> share;  ///< the part of a machine that one copy has
  Size copies(double scale) const;            ///< for `scale` times the load, at least one
};

/// Every option by which `machine` serves `load`, without options that another beats in both cards
/// and size of copies. A copy on a part of a card has that part of its memory, bandwidth and peak,
/// as if all sharers are busy. A machine's RAM, its bandwidth and its cores are shared likewise. If
/// the target allows offload, options with and without it are included. `times` and `memory`
/// multiply every time and every use of a card: 1 as estimated. Without an option, `missed` says
/// why the best one fails.
struct ServingOptions {
  std::vector<ServingOption> all;
  /// Those that another beats. Copies of them may answer sooner if cards are left.
  std::vector<ServingOption> beaten;
  Shortfall missed;
};
/// `on_cards`: the options without offload, where they are known already.
ServingOptions serving_options(const Machine& machine, const Load& load, bool share_cards,
                               double times = 1, double memory = 1,
                               const ServingOptions* on_cards = nullptr);

/// Copies of one load on a fleet.
struct Stay {
  std::size_t load = 0;  ///< index
  ServingOption way;
  Size copies = 0;   ///< needed for the load
  Size running = 0;  ///< with those on cards that are paid for and else unused
  AtDemand at_load;  ///< one of the running copies; set by use_free_parts()
};
/// The running copies of each load on one of the machines, and how many machines look like this.
struct Pattern {
  std::vector<Size> copies;  ///< by stay
  Size machines = 0;
  bool operator==(const Pattern&) const = default;
};
struct Fleet {
  Size machines = 0;
  std::vector<Stay> stays;  ///< one for each load
  std::vector<Pattern> patterns;
  Size free_parts = 0;  ///< parts of cards on all machines that the needed copies leave
  /// No smaller number of such machines can do it with these ways. Always so where of two sizes of
  /// copies one divides the other: first fit by falling size is then optimal (Coffman, Garey,
  /// Johnson, J. Complexity 3, 1987).
  bool proven = true;
};

/// The fewest machines with `cards` cards that serve `scale` times every load, by one option for
/// each load. ways[i] are the options of load i, none empty. Among equal numbers, the one with most
/// free memory.
Fleet smallest_fleet(Size cards, std::span<const std::vector<ServingOption>> ways,
                     double scale = 1);

/// Gives the free parts of `fleet` to more copies, those with most of their load each first, and
/// finds what each copy has at its load. `cards`: of one machine; loads[i] is of stays[i].
void use_free_parts(Fleet& fleet, Size cards, std::span<const Load* const> loads);

}  // namespace headroom::model
