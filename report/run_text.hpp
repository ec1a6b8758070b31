// Rows of a run as CSV text. Texts of axes and facts are made once, not once per row.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "report/axes.hpp"
#include "report/columns.hpp"
#include "report/condition.hpp"
#include "report/growing_text.hpp"
#include "report/read.hpp"

namespace headroom::report {

/// A number from the positions of a point in some digits of its grid.
struct Combination {
  struct Part {
    std::size_t digit;
    Size times;
  };
  std::vector<Part> parts;
  Size count = 1;
  /// Once more is once.
  void add(std::size_t digit, Size size);
  std::size_t at(const std::vector<Size>& positions) const;
};

/// The state between one row of a grid and the next.
struct RowState {
  std::vector<Size> positions;      ///< position of the point in each digit
  std::vector<NumberText> numbers;  ///< numbers of the row before, by piece
};

/// The rows of one grid.
class GridText {
 public:
  GridText(const Axes& axes, std::size_t grid, std::span<const Column* const> selected);

  /// Goes to a point from anywhere, and to the one after it.
  void locate(Size point, RowState& state) const;
  void advance(RowState& state) const;
  const model::IntervalFactors& factors(const std::vector<Size>& positions) const {
    return factors_[factors_of_.at(positions)];
  }
  void append_row(GrowingText& text, Size point, RowState& state,
                  const model::Estimate& estimate) const;

 private:
  /// Adjacent columns: one that is computed, or texts of axes by what these combine to.
  struct Piece {
    const Column* computed = nullptr;
    Combination of;
    std::vector<std::string> texts;
  };

  /// The first point of combination `n`.
  Size point_of(const Combination& of, Size n) const;
  void add(const Column* column, const std::vector<Digit>& digits, bool is_first);
  /// Adds a column of `digit` to the texts of `piece`, which then has one for each of `joint`.
  void extend(Piece& piece, const Combination& joint, std::size_t digit, const Axis& axis,
              bool is_first) const;

  std::vector<Place> places_;
  Size first_;
  std::vector<Piece> pieces_;
  Combination factors_of_;  ///< the point's runtime and machine
  std::vector<model::IntervalFactors> factors_;
};

/// Rows as text, and the number of points that were read for them.
struct TextBlock {
  GrowingText text;
  Size points = 0;
};

class RunText {
 public:
  RunText(RunInfo run, std::span<const Column* const> selected);
  std::string header() const;
  /// Points of all grids, excluded ones too.
  Size points() const;
  /// Sets `made` to the stored points among `points` from `first` on, those for which `where`
  /// holds; null: all.
  void read_block(const Database& database, std::int64_t run, Size first, Size points,
                  const Condition* where, TextBlock& made) const;

 private:
  Axes axes_;
  std::span<const Column* const> selected_;
  std::vector<GridText> grids_;
};

}  // namespace headroom::report
