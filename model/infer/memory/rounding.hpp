// Bytes of memory that a formula gives as a real number.
#pragma once

#include <stdexcept>

#include "hardware/units.hpp"

namespace headroom::model {

/// Apart from what is worked out often.
[[noreturn, gnu::cold, gnu::noinline]] inline void exceed_bytes() {
  throw std::overflow_error("a byte count exceeds 2^63 - 1");
}

/// The next whole byte. Throws std::overflow_error beyond 2^63 - 1.
inline Bytes rounded_up(double bytes) {
  if (!(bytes < 0x1p63)) exceed_bytes();
  const Size whole = static_cast<Size>(bytes);
  return Bytes(whole + (static_cast<double>(whole) < bytes ? 1 : 0));
}

}  // namespace headroom::model
