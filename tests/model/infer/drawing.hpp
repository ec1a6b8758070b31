// Random numbers of tests, the same in every run.
#pragma once

#include <random>

#include "hardware/units.hpp"

namespace headroom::model {

struct Drawing {
  std::mt19937 engine;
  Size between(Size low, Size high) {
    return std::uniform_int_distribution<Size>(low, high)(engine);
  }
};

}  // namespace headroom::model
