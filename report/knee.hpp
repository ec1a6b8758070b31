// The one definition of the knee of a curve: from there on more memory no longer helps.
#pragma once

#include <cstddef>
#include <optional>
#include <span>

namespace headroom::report {

/// The share of the best speed that counts as having reached it.
inline constexpr double knee_share = 0.95;

struct Knee {
  std::size_t index = 0;  ///< into the curve
  double marginal_before =
      0;  ///< speed gained per unit of allocation from the first point to the knee
  double marginal_after = 0;  ///< as above, from the knee to the last point
};

/// State at the end of a curve: everything on GPUs, or a model that more memory would still help.
enum class End { complete, open };

/// The smallest allocation that reaches `knee_share` of the best speed of the curve. `allocations`
/// ascending, `speeds` larger is better, 0 or not finite where it does not run. None where nothing
/// runs, and where only the last allocation reaches it and the end is open.
std::optional<Knee> find_knee(std::span<const double> allocations, std::span<const double> speeds,
                              End end);

/// The share of the best speed below which a unit of allocation more counts as nothing gained.
inline constexpr double little_share = 0.01;

/// The point of diminishing returns: the smallest allocation from which no later point gains more
/// than `little_share` of the best speed for each unit of allocation. Less than a unit counts in
/// total. The arguments are those of find_knee. None where nothing runs.
std::optional<std::size_t> returns_diminished(std::span<const double> allocations,
                                              std::span<const double> speeds);

}  // namespace headroom::report
