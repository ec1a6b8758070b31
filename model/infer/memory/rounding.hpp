// Bytes of memory that a formula gives as a real number.
#pragma once

#include <stdexcept>

#include "hardware/units.hpp"

namespace headroom::model {

/// The next whole byte. Throws std::overflow_error beyond 2^63 - 1.
inline Bytes rounded_up(double bytes) {
  if (!(bytes < 0x1p63)) throw std::overflow_error("a byte count exceeds 2^63 - 1");
  const Size whole = static_cast<Size>(bytes);
  return Bytes(whole + (static_cast<double>(whole) < bytes ? 1 : 0));
}

}  // namespace headroom::model
