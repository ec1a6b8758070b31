// Constants of training times from measured steps, and how steps fare that they were not fitted to.
#pragma once

#include <string>
#include <vector>

#include "sweep/accuracy/folds.hpp"
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

}  // namespace headroom::sweep
