// Which point of another run is the same point: grids change from night to night, and points are
// renumbered.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/axes.hpp"

namespace headroom::report {

enum class Match {
  /// every axis has the same value, and a budget that is a part of the card (max, 50%, max-2GiB)
  /// stays that part of another card: the same question
  names,
  content,  ///< every fact and fingerprint too, and the same points are left out: the same answer
};

/// A machine of one run that stands where the other run has another one.
struct ReplacedMachine {
  std::string from, to;  ///< by name
};
/// The machine of `to` in place of one of `from`. None unless exactly one of each is missing in the
/// other run: which of several stands for which is not known.
std::optional<ReplacedMachine> replaced_machine(const RunInfo& from, const RunInfo& to);

/// Maps the points of one run to those of another. Both must outlive it.
class PointMap {
 public:
  /// `replaced`: the machine of `to` that counts as one of `from` (Match::names).
  PointMap(const Axes& from, const Axes& to, Match match,
           std::optional<ReplacedMachine> replaced = {});

  struct Range {
    Size points = 0;         ///< from the point on that was asked for, at least 1
    std::optional<Size> to;  ///< first of the matching points there, which follow each other; none:
                             ///< they are absent
  };
  /// The place of `point` and the points after it in the other run, as far as is easily seen.
  Range at(Size point) const;

 private:
  /// One digit of a grid of `to`: its position by those digits of a grid of `from` that decide it.
  struct Lookup {
    std::vector<std::size_t> digits;
    std::vector<Size> positions;  ///< mixed radix over `digits`; -1: that value is not there
  };
  /// One grid of `from` held against one of `to`.
  struct Pair {
    std::size_t to = 0;
    std::vector<Lookup> lookups;
    Size inner = 1;  ///< points in a row that keep their order: the digits that are the same
  };
  std::optional<Lookup> lookup_of(const GridShape& a, const Digit& digit, Match match) const;
  static Size points_in_order(const GridShape& a, const GridShape& b,
                              const std::vector<Lookup>& lookups);
  std::optional<Pair> pair(std::size_t from, std::size_t to, Match match) const;
  std::optional<Size> find(std::size_t from, const Pair& pair, Size point) const;

  const Axes* from_;
  const Axes* to_;
  std::optional<ReplacedMachine> replaced_;
  std::vector<std::vector<Pair>> pairs_;  ///< by grid of `from`
};

}  // namespace headroom::report
