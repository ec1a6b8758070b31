// The high end of the memory interval on the cards of a placement.
#pragma once

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// True if each card of `plan` holds its part at the high end of the engine's memory interval. At
/// that end place() may find another placement that holds.
bool holds_at_high_end(const Uses& uses, const Plan& plan);

/// Likewise, but of all the memory of each card, whatever the budget is.
bool stays_on_cards_at_high_end(const Uses& uses, const Plan& plan);

}  // namespace headroom::model
