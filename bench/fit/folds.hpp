// Which measurements are left out together, to see how constants do on what they were not fitted
// to.
#pragma once

#include <string_view>
#include <vector>

#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// The fold of each subject, from 0.
using Folds = std::vector<std::size_t>;

/// A set-up is a model on a card, in any number, precision and batch, as one source measured it.
/// Set-ups are assigned to twenty folds. A left-out set-up has neighbours, like a question about
/// the next line of a published table. Rows of an engine (`engines`, one of each row) with only one
/// set-up are assigned one by one.
Folds folds_by_set_up(const std::vector<const Measurement*>& rows,
                      const std::vector<std::string_view>& engines);
Folds folds_by_set_up(const std::vector<ScoredRow>& subjects);
/// Models are dealt to three folds, whatever runs them; rows are, of an engine with but one model.
Folds folds_by_model(const std::vector<ScoredRow>& subjects);
/// A source of 20 rows or more is a fold, smaller ones are in one of three by a hash of their name.
Folds folds_by_source(const std::vector<ScoredRow>& subjects);

std::size_t count(const Folds& folds);

}  // namespace headroom::sweep
