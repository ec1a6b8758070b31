// Number of cards of each kind that a scenario needs.
#pragma once

#include <boost/json/fwd.hpp>
#include <string>
#include <vector>

#include "hardware/catalogue.hpp"
#include "model/infer/estimate.hpp"

namespace headroom::sweep {

struct GpusNeeded {
  const Device* device = nullptr;
  double share = 0;  ///< all that one card would hold, in cards: 0.4 is less than half of one
  Size whole = 0;    ///< the fewest that hold it as the engine divides a model; 0: 64 do not
};

/// For each card of the catalogue, in its order, in the default host. Empty where the scenario is
/// refused. `scenario`: of no machine.
std::vector<GpusNeeded> gpus_needed(const model::Scenario& scenario, const Catalogue& catalogue);

/// One line with the best known kinds, and all of them.
std::string gpus_needed_line(const std::vector<GpusNeeded>& all);
boost::json::array gpus_needed_array(const std::vector<GpusNeeded>& all);

}  // namespace headroom::sweep
