// The cards of a machine's name: "2x rtx-4090 + 1x rtx-3090".
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "hardware/catalogue.hpp"

namespace headroom {

struct CountedCards {
  std::int64_t count = 1;
  std::string_view name;
};
/// "2x rtx-4090" or "rtx-4090". Throws std::invalid_argument for a count that no machine has.
CountedCards counted_cards(std::string_view text);

/// Throws std::invalid_argument, and UnknownName with the nearest names.
std::vector<Device> parse_cards(std::string_view text, const Catalogue& catalogue);

}  // namespace headroom
