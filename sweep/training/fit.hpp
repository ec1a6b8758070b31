// Constants of training times that bring estimates nearest to measured steps.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "sweep/accuracy/training_measurement.hpp"

namespace headroom::sweep {

/// Steps with fewer measurements than this under a runtime have the constants of all.
inline constexpr std::size_t least_timed_steps = 8;

/// Constants as model/catalogue/training_pace.tsv has them.
struct FittedPaces {
  std::vector<model::TrainingPace> runtimes;  ///< first one called "any", fitted to all steps
  std::vector<model::CardPace> cards;         ///< of each generation, together with "any"

  /// Of the step's runtime, or "any", on its cards.
  model::TrainingPace of(const TimedStep& step) const;
};

/// Coordinate descent on
///
///   mean |ln(expected / measured)|, each source weighing as the root of its rows,
///     + 0.05 * sum over constants of a runtime ln(value / that of "any")^2
///     + 0.005 * sum over shares of generations ln(value)^2
FittedPaces fitted_paces(std::span<const TimedStep> steps);

/// training_pace.tsv of the rows of `files` that are training times.
std::string fitted_training_paces(const std::vector<Measurement>& rows,
                                  const std::string& models_folder);

/// Every step scored by constants that its source had no part in.
std::vector<Score> left_out_times(const std::vector<Measurement>& rows,
                                  const std::string& models_folder);

}  // namespace headroom::sweep
