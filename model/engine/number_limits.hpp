// The numbers that a field or a constant of an engine can have.
#pragma once

#include <fmt/format.h>

#include <string>

namespace headroom::model {

struct NumberLimits {
  double least = 0, most = 9e15;

  bool contains(double number) const { return least <= number && number <= most; }
  std::string text() const { return fmt::format("a number from {} to {}", least, most); }
};
inline constexpr NumberLimits part_of_whole{0, 1};
/// Something is divided by it.
inline constexpr NumberLimits share_of_rate{1e-6, 1};

}  // namespace headroom::model
