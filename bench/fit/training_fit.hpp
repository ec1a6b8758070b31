// Constants of training times from measured steps, and how steps fare that they were not fitted to.
#pragma once

#include <string>
#include <vector>

#include "bench/fit/folds.hpp"
#include "sweep/accuracy/training_measurement.hpp"

namespace headroom::sweep {

/// training_pace.tsv of the rows that are training times. Intervals are of measured / expected by
/// runtime, as expected by constants that the row's source had no part in.
std::string fitted_training_paces(const std::vector<Measurement>& rows,
                                  const std::string& models_folder);

/// Which steps are left out together.
using FoldsOfRows = Folds (*)(const std::vector<const Measurement*>&,
                              const std::vector<std::string_view>& engines);
/// Each source is a fold.
Folds whole_sources(const std::vector<const Measurement*>& rows,
                    const std::vector<std::string_view>& engines);

/// Every step scored by constants that its fold had no part in.
std::vector<Score> left_out_times(const std::vector<Measurement>& rows,
                                  const std::string& models_folder, FoldsOfRows deal);

/// Every training score without its source. Overheads are unmeasured ones, because each runtime's
/// constants come from one source. Policies are kept. Times use constants fitted to the rows of all
/// other sources.
std::vector<Score> left_out_training(const std::vector<Measurement>& rows,
                                     const std::string& models_folder);

}  // namespace headroom::sweep
