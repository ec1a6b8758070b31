// Rules of thumb in place of terms: the constants that other estimators are tuned by, so that their
// arithmetic can be compared with ours, and measured peaks can be met by moving one of them.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

#include "model/train/training.hpp"

namespace headroom::model {

/// One key that can be set.
struct FactorKey {
  std::string_view name, meaning;
};
/// Keys of rules; beside them every term T has `T_scale` (multiplies it) and `T_gib` (replaces it).
std::span<const FactorKey> factor_keys();
/// Names of the terms that have a scale and a constant.
std::span<const std::string_view> factor_terms();

/// Throws UnknownName for a name that is no key, std::invalid_argument for a value that is negative
/// or no number.
void set_factor(Factors& factors, std::string_view name, double value);

/// Replaces and scales the terms of one card, before the moments of the step are compared; `loss`
/// are the bytes at the end of forward and the start of backward.
void apply_factors(const TrainingScenario& scenario, const Stage& stage, TrainingEstimate& e,
                   double& loss_forward, double& loss_backward);
/// Context and fragmentation, which are added last.
void apply_overheads(const TrainingScenario& scenario, TrainingEstimate& e);

}  // namespace headroom::model
