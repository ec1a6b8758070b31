// A user's SQL expression over rows: it sees the values it is given and nothing else. No file is
// open where it is evaluated; only plain expressions and built-in functions are allowed.
#pragma once

#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "report/columns.hpp"

namespace headroom::report {

/// The expression cannot be understood, or does what is not allowed. The message says what was
/// found, what sqlite says, and the nearest columns.
class ConditionError : public std::invalid_argument {
 public:
  using std::invalid_argument::invalid_argument;
};

/// The expression reads a column that does not exist.
class UnknownColumn : public ConditionError {
 public:
  using ConditionError::ConditionError;
};

/// A text that an expression compares with a column, and the column's name: "verdict = 'refused'".
struct ComparedText {
  std::string column, text;
  bool operator==(const ComparedText&) const = default;
};
/// Comparisons of a name with texts by =, ==, <>, !=, IS and IN.
std::vector<ComparedText> compared_texts(std::string_view expression);

class Condition {
 public:
  /// A column that the expression reads, and its row.
  struct Read {
    std::size_t row = 0;
    const Column* column = nullptr;
  };

  /// `rows`: what the expression calls them, {"old", "new"}; {"result"} for one row, whose columns
  /// need no name before them. `more`: columns beyond columns(), which outlive the condition.
  /// Throws ConditionError.
  Condition(std::string expression, const std::vector<std::string>& rows,
            std::span<const Column> more = {});
  ~Condition();
  Condition(Condition&&) noexcept;

  std::span<const Read> columns_read() const;
  /// True if the expression holds for these values, one for each of columns_read(). Throws
  /// ConditionError where evaluating fails or takes longer, for it or for all so far, than any
  /// sensible expression.
  bool holds(std::span<const Cell> values) const;

 private:
  struct Implementation;
  std::unique_ptr<Implementation> self_;
};

}  // namespace headroom::report
