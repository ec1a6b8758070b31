// Memory of the cards that a placement uses, in words: one number for like cards, else one a kind.
#pragma once

#include <string>

#include "model/infer/estimate.hpp"

namespace headroom::sweep {

/// "21.9 GiB", "21.9 GiB on each of 2 GPUs", "21.9 GiB on rtx-4090, 9.2 GiB on 2x rtx-3060-12gb".
/// The fullest card of each kind counts. `estimate` is the scenario's, and uses a card.
std::string card_memory(const model::Scenario& scenario, const model::Estimate& estimate);

/// Likewise with the budget of each: "21.9 of 22.6 GiB".
std::string card_memory_of_budget(const model::Scenario& scenario, const model::Estimate& estimate);

}  // namespace headroom::sweep
