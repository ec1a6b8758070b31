// A scenario whose cards hold anything, to ask what it needs.
#pragma once

#include "hardware/machine.hpp"
#include "model/engine/engine.hpp"
#include "model/infer/scenario/scenario.hpp"

namespace headroom::model {

/// `scenario` on the same cards with 2^50 bytes each; a machine without cards is given one. The
/// engine keeps the sizes that it takes by the memory of the actual cards (StartPass, CardReserve).
/// The budget, share and map of the scenario stay as they are.
struct LargerCards {
  explicit LargerCards(const Scenario& scenario);
  LargerCards(const LargerCards&) = delete;
  LargerCards& operator=(const LargerCards&) = delete;

  Machine machine;
  Engine engine;
  Scenario scenario;  ///< points to both
};

}  // namespace headroom::model
