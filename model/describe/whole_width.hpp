// A width that a config states as a factor of another width.
#pragma once

#include "model/describe/config.hpp"

namespace headroom::model {

/// `width`, in elements, rounded down. Throws ConfigError at `key`, which it follows from, unless
/// it is from 1 to 2^30.
inline Size whole_width(const Config& c, std::string_view key, double width) {
  if (!(width >= 1 && width <= 1 << 30)) c.fail(key, "gives no width of a layer");
  return static_cast<Size>(width);
}

}  // namespace headroom::model
