// Constants fitted to measurements, and how estimates fare on sources and models that they were not
// fitted to.
#pragma once

#include <string>
#include <vector>

#include "sweep/accuracy/accuracy.hpp"

namespace headroom::sweep {

struct FittedFile {
  std::string name, content;
};
/// The constants of engines that bring estimates nearest to the rows of `files`: constants.tsv and
/// effects.tsv; of files of training times alone training_pace.tsv.
std::vector<FittedFile> fitted_constants(const std::vector<std::string>& files,
                                         const std::string& models_folder);

/// Fills `left_out`, nearest neighbours first (bench/fit/folds.hpp).
void leave_out(Accuracy& accuracy, const std::string& models_folder);
/// Only what each source would be met with: the figures that may not get worse.
void leave_out_sources(Accuracy& accuracy, const std::string& models_folder);

}  // namespace headroom::sweep
