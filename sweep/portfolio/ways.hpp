// Building blocks of portfolio plans: serving options of every load on every machine, and fleets.
#pragma once

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
  /// `strict`: targets hold at the high ends of intervals.
  template <class ErrorOf>
  ServingTable(const Portfolio& p, ErrorOf&& error_of, bool strict = false)
      : loads_(p.loads.size()) {
    for (std::size_t m = 0; m < p.machines.size(); ++m)
      for (const bool offload : {false, true})
        for (std::size_t l = 0; l < loads_; ++l) {
          if (offload && !p.offload) {
            all_.emplace_back();
            continue;
          }
          model::Load load = p.loads[l];
          load.target.offload = offload;
          load.target.strict = load.target.strict || strict;
          const Error error = error_of(m, l);
          const auto* on_cards = offload ? &of(m, false, l) : nullptr;
          all_.push_back(serving_options(*p.machines[m], load, p.share_cards, error.times,
                                         error.memory, on_cards));
        }
  }
  const model::ServingOptions& of(std::size_t machine, bool offload, std::size_t load) const {
    return all_[(2 * machine + (offload ? 1 : 0)) * loads_ + load];
  }

 private:
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
