// `exclude` conditions are SQL over the axis columns. They are evaluated once for each combination
// of the digits that they depend on. A table of bits stores the results.
#pragma once

#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "report/run_info.hpp"
#include "sweep/grid/grid.hpp"

namespace headroom::sweep {

/// More combinations than this are refused: the condition would need as many bits and evaluations.
inline constexpr Size max_combinations = 20'000'000;

/// Which points of a grid one condition excludes.
class Exclusion {
 public:
  /// Throws std::invalid_argument with what sqlite says, the columns that may be used, or that the
  /// condition depends on too many combinations.
  Exclusion(const std::string& condition, const report::GridShape& shape);

  bool excludes(std::span<const Size> point) const {
    Size cell = 0;
    for (std::size_t k = 0; k < digits_.size(); ++k) cell = cell * radices_[k] + point[digits_[k]];
    return bits_[static_cast<std::size_t>(cell)];
  }
  /// The digits that the condition depends on.
  std::span<const std::size_t> digits() const { return digits_; }

 private:
  std::vector<std::size_t> digits_;
  std::vector<Size> radices_;
  std::vector<bool> bits_;
};

/// The points of a grid that no condition excludes. None: those that belong together depend on more
/// than `max_combinations`.
std::optional<Size> points_left(const Grid& grid, std::span<const Exclusion> exclusions);

}  // namespace headroom::sweep
