// Names of whole boxes: how many of which card are in "dgx-b200" and "gb200 nvl72".
#pragma once

#include <optional>
#include <string_view>

#include "hardware/card_list.hpp"
#include "hardware/catalogue.hpp"

namespace headroom {

/// Throws std::invalid_argument with the machine's `text` and examples of machines.
[[noreturn]] void reject_machine(std::string_view text, std::string_view why);

/// NVIDIA names a domain of NVLink by its cards: "gb200 nvl72" has 72.
CountedCards cards_of_domain(std::string_view machine, const CountedCards& found);

/// The cards of a complete box by its name, if the catalogue has one kind of card for it. A card
/// that shares the memory of its box is the one with as much of it as the box's row. Nothing where
/// the name is of no host. Rejects a box with several kinds, and a name of several boxes, with
/// lists.
std::optional<CountedCards> cards_of_box(std::string_view text, std::string_view name,
                                         const Catalogue& catalogue);

}  // namespace headroom
