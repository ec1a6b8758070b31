// Constants of engines from measurements: those that bring estimates nearest to them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/fit/folds.hpp"
#include "bench/fit/pooled_search.hpp"

namespace headroom::sweep {

/// The constants of every engine from measurements of them.
///
/// Those of times are sought together (bench/fit/pooled_search.hpp), those of memory for each
/// engine alone (sweep/accuracy/constant_search.hpp).
class Fit {
 public:
  explicit Fit(std::vector<ScoredRow> subjects);

  const std::vector<ScoredRow>& subjects() const { return subjects_; }

  /// Expected value of each subject by constants fitted without its fold; empty without an
  /// estimate.
  std::vector<std::optional<double>> left_out(const Folds& folds);

  /// model/engine/constants.tsv. A constant counts as measured by the rows whose estimate it
  /// changes.
  /// Intervals are those of bench/fit/interval_lines.hpp.
  std::string lines();
  /// model/engine/effects.tsv.
  std::string effects() const;
  /// model/engine/measured_cards.tsv: rows of times by family, card and width; `any` card has all.
  std::string cards() const;

 private:
  std::vector<ScoredRow> subjects_;
  std::vector<model::Engine> rows_;  ///< with the constants of memory
  std::string memory_lines_;
  std::vector<std::size_t> times_;  ///< the subject of each of the search
  std::optional<PooledSearch> search_;
};

}  // namespace headroom::sweep
