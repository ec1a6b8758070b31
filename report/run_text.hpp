// Rows of a run as CSV text. Texts of axes and facts are made once, not once per row.
#pragma once

#include <fmt/format.h>

#include <array>
#include <bit>
#include <charconv>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "report/axes.hpp"
#include "report/columns.hpp"
#include "report/condition.hpp"
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

/// The text of a number: the fewest digits that read back as it. Neighbouring rows have many equal
/// numbers, and a copy is faster.
class NumberText {
 public:
  template <class Number>
  std::string_view of(Number value) {
    const auto bits = std::bit_cast<std::int64_t>(value);
    if (length_ > 0 && bits == bits_ && is_real_ == std::is_floating_point_v<Number>)
      return {digits_.data(), length_};
    bits_ = bits;
    is_real_ = std::is_floating_point_v<Number>;
    const auto end = std::to_chars(digits_.data(), digits_.data() + digits_.size(), value).ptr;
    length_ = static_cast<std::size_t>(end - digits_.data());
    return {digits_.data(), length_};
  }

 private:
  std::int64_t bits_ = 0;
  bool is_real_ = false;
  std::size_t length_ = 0;  ///< 0: of none yet
  std::array<char, 32> digits_;
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
  void append_row(fmt::memory_buffer& text, Size point, RowState& state,
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
  std::string text;
  Size points = 0;
};

class RunText {
 public:
  RunText(RunInfo run, std::span<const Column* const> selected);
  std::string header() const;
  /// Points of all grids, excluded ones too.
  Size points() const;
  /// The stored points among `points` from `first` on, those for which `where` holds; null: all.
  TextBlock block(const Database& database, std::int64_t run, Size first, Size points,
                  const Condition* where) const;

 private:
  Axes axes_;
  std::span<const Column* const> selected_;
  std::vector<GridText> grids_;
};

}  // namespace headroom::report
