// Which measurements are left out together, to see how constants do on what they were not fitted
// to.
#pragma once

#include <vector>

#include "sweep/accuracy/subject.hpp"

namespace headroom::sweep {

/// The fold of each subject, from 0.
using Folds = std::vector<std::size_t>;

/// Models are dealt to three folds, whatever runs them; rows are, of an engine with but one model.
Folds folds_by_model(const std::vector<Subject>& subjects);
/// A source of 20 rows or more is a fold, smaller ones are dealt to three.
Folds folds_by_source(const std::vector<Subject>& subjects);

std::size_t count(const Folds& folds);

}  // namespace headroom::sweep
