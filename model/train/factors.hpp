// Rules of thumb that replace terms: the constants by which other estimators are tuned. They allow
// a comparison with other estimators' arithmetic, and fitting measured peaks with one constant.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "model/train/training.hpp"

namespace headroom::model {

/// A key that can be set.
struct FactorKey {
  std::string_view name, meaning;
};
/// Keys of rules. In addition, every term T has `T_scale` (multiplies it) and `T_gib` (replaces
/// it).
std::span<const FactorKey> factor_keys();
/// Names of the terms that have a scale and a replacement.
std::span<const std::string_view> factor_terms();

/// GiB of a term, or times as much as counted.
inline constexpr double most_factor = 1e6;

/// Throws UnknownName for an unknown key, and std::invalid_argument for a value that is negative or
/// no number.
void set_factor(Factors& factors, std::string_view name, double value);

/// Replaces and scales the terms of one card before the moments of the step are compared. `loss`
/// gives the bytes at the end of forward and the start of backward.
void apply_factors(const TrainingScenario& scenario, const Stage& stage, TrainingEstimate& e,
                   double& loss_forward, double& loss_backward);
/// Applies context and fragmentation, which are added last.
void apply_overheads(const TrainingScenario& scenario, TrainingEstimate& e);

}  // namespace headroom::model
