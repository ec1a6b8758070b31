// The search for constants of one engine that bring its estimates nearest to measurements: what
// `bench/fit` and `calibrate` share.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/engine/measured_constants.hpp"
#include "sweep/accuracy/scored_row.hpp"

namespace headroom::sweep {

/// Constants that may be fitted, with their bounds. Other named_constants() do not change.
struct Bounds {
  std::string_view name;
  double low, high;
};
std::span<const Bounds> constant_bounds();

/// The constant of a name that named_constants() has.
const model::NamedConstant& constant_named(std::string_view name);

/// A constant of memory that every version of an engine has, and that no time measures.
bool is_of_memory(const model::NamedConstant& constant);

/// The measurements that determine a constant. Bytes are measured by memory, the context by the
/// driver's figure, and seconds by times. A card's rates are measured by runs with all weights on
/// cards, because otherwise streaming or the CPU dominates the time. Engines without such runs are
/// the exception. Whole answers do not measure prefill rates unless the prompt is much longer than
/// the output.
bool measures(const ScoredRow& subject, const model::NamedConstant& constant, bool always_offloads);

/// Any class of cards, any width of weights.
inline constexpr std::size_t any = 99;

/// One unknown: a constant of the engine, or of some cells of its rates.
struct Unknown {
  const model::NamedConstant* constant;
  double low, high;
  std::size_t cards = any, width = any;
  double common = 0;              ///< the value that it is pulled to; 0: none
  double pull = 0;                ///< weight of ln(value / common)^2 in the sum
  std::vector<std::size_t> rows;  ///< rows whose estimate it changes
};
/// "decode_bandwidth (gddr, 4-bit)".
std::string name_of(const Unknown& unknown);

class ConstantSearch {
 public:
  /// `rows`: versions of one engine; `subjects`: measurements of them, a group of n together
  /// weighs as sqrt(n): neither do many rows drown the other groups nor do few lead.
  ConstantSearch(std::vector<model::Engine> rows, std::vector<ScoredRow> subjects);
  ConstantSearch(const ConstantSearch&) = delete;  // subjects point to the rows
  ConstantSearch& operator=(const ConstantSearch&) = delete;

  /// By coordinate descent, minimises
  ///
  ///   sum over subjects |ln(expected / measured)| / sqrt(subjects of its group)
  ///     + sum over unknowns pull * ln(value / common)^2
  ///
  /// within the bounds of each unknown. The absolute error leaves outliers without weight.
  void solve(const std::vector<Unknown>& unknowns);

  /// As it is in the version that was measured first: shipped, versions differ.
  double get(const Unknown& unknown) const;
  /// In every version.
  void set(const Unknown& unknown, double value);
  /// Subjects whose estimate it changes.
  std::vector<std::size_t> affected(const Unknown& unknown);

  const std::vector<model::Engine>& rows() const { return rows_; }
  const std::vector<ScoredRow>& subjects() const { return subjects_; }
  /// The figure of a subject under the constants as they are; nothing where there is no estimate.
  std::optional<double> expected(std::size_t subject) const;

 private:
  double error_of(std::size_t i) const;
  double weight(std::size_t i) const { return 1.0 / std::sqrt(group_size_.at(subjects_[i].group)); }
  double cost(const Unknown& unknown, double value);
  double best(const Unknown& unknown, double before);

  std::vector<model::Engine> rows_;
  std::vector<ScoredRow> subjects_;
  std::map<std::string, int> group_size_;
  std::vector<double> error_;
  bool always_offloads_ = false;  ///< no time was measured with all weights on cards
};

}  // namespace headroom::sweep
