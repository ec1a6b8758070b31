// Sums of money for a reader.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <string_view>

#include "sweep/output.hpp"

namespace headroom::sweep {

/// "0.4132 USD", "12,345 USD".
inline std::string money(double value, std::string_view currency) {
  return fmt::format(
      "{} {}",
      value < 1000 ? fmt::format("{:.4g}", value) : grouped(static_cast<Size>(std::llround(value))),
      currency);
}

}  // namespace headroom::sweep
