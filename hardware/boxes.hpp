// Hosts for as many cards as a machine has, in one box or several.
#pragma once

#include <string_view>

#include "hardware/catalogue.hpp"
#include "hardware/machine.hpp"

namespace headroom {

/// Takes the nearest one box where no host was given and the usual one holds fewer cards.
void take_larger_host(Machine& machine, const Catalogue& catalogue);

/// Multiplies the host by the number of boxes that hold the cards. Throws std::invalid_argument,
/// naming machines to type, where the host has no network to another. `text`: as it was typed.
void join_boxes(std::string_view text, Machine& machine, const Catalogue& catalogue);

}  // namespace headroom
