// Building blocks of portfolio plans: serving options of every load on every machine, and fleets.
#pragma once

#include <tbb/parallel_for.h>

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "sweep/portfolio/portfolio.hpp"

namespace headroom::sweep {

inline constexpr double never = std::numeric_limits<double>::infinity();

/// Serving options of every load on every machine, with and without offload, under one draw of the
/// errors.
class ServingTable {
 public:
  /// Factors on times and memory by machine and load.
  struct Error {
    double times = 1, memory = 1;
  };
  /// `wanted` says of which machines, offloads and loads; with offload, also without. `strict`:
  /// targets hold at the high ends of intervals.
  template <class Wanted, class ErrorOf>
  ServingTable(const Portfolio& p, const Wanted& wanted, const ErrorOf& error_of,
               bool strict = false)
      : loads_(p.loads.size()), all_(2 * p.machines.size() * loads_) {
    tbb::parallel_for(std::size_t{0}, p.machines.size() * loads_, [&](std::size_t i) {
      const std::size_t m = i / loads_, l = i % loads_;
      const Error error = error_of(m, l);
      model::Load load = p.loads[l];
      load.target.strict = load.target.strict || strict;
      const model::ServingOptions* on_cards = nullptr;
      for (const bool offload : {false, true}) {
        if (!wanted(m, offload, l)) continue;
        load.target.offload = offload;
        model::ServingOptions& each = all_[index(m, offload, l)];
        each = serving_options(*p.machines[m], load, p.share_cards, error.times, error.memory,
                               on_cards);
        on_cards = &each;
      }
    });
  }
  const model::ServingOptions& of(std::size_t machine, bool offload, std::size_t load) const {
    return all_[index(machine, offload, load)];
  }

 private:
  std::size_t index(std::size_t machine, bool offload, std::size_t load) const {
    return (2 * machine + (offload ? 1 : 0)) * loads_ + load;
  }

  std::size_t loads_;
  std::vector<model::ServingOptions> all_;
};

struct FleetChoice {
  std::size_t machine;
  model::Acquisition acquisition;
  bool offload;
};

/// The fleet of `choice` for `loads`; nothing where some load has no way.
std::optional<model::Fleet> fleet_of(const Portfolio& p, const ServingTable& ways,
                                     const FleetChoice& choice,
                                     const std::vector<std::size_t>& loads, double scale = 1);

/// Draws of errors and prices: wins, beats and intervals of `plans`, the first the best.
void apply_draws(const Portfolio& portfolio, std::vector<FleetPlan>& plans);

}  // namespace headroom::sweep
