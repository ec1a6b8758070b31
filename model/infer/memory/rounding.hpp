// Bytes of memory that a formula gives as a real number.
#pragma once

#include <algorithm>
#include <cmath>

#include "hardware/units.hpp"

namespace headroom::model {

/// The next whole byte, at most 10^18.
inline Bytes rounded_up(double bytes) {
  return Bytes(static_cast<Size>(std::ceil(std::min(bytes, 1e18))));
}

}  // namespace headroom::model
