// Bytes of memory that a formula gives as a real number.
#pragma once

#include <cmath>
#include <stdexcept>

#include "hardware/units.hpp"

namespace headroom::model {

/// The next whole byte. Throws std::overflow_error beyond 2^63 - 1.
inline Bytes rounded_up(double bytes) {
  if (!(bytes < 0x1p63)) throw std::overflow_error("a byte count exceeds 2^63 - 1");
  return Bytes(static_cast<Size>(std::ceil(bytes)));
}

}  // namespace headroom::model
