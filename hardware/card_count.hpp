// The number of cards that a machine can have.
#pragma once

#include <cstdint>
#include <string_view>

namespace headroom {

/// Throws std::invalid_argument that names `machine` if `count` is no possible number of cards.
void require_card_count(std::string_view machine, std::int64_t count);

}  // namespace headroom
