// The constants of all engines at once, from measurements of times: each is pooled with its likes,
// so that what no measurement tells apart stays as its likes have it.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "sweep/accuracy/constant_search.hpp"

namespace headroom::sweep {

/// A factor on one constant: of every engine, of one engine or of one generation of it; on every
/// card and width of weights, or on some.
struct Effect {
  const model::NamedConstant* constant = nullptr;
  std::string_view family = {}, generation = {};  ///< empty: any
  std::size_t cards = any, width = any;
  double spread = 0;  ///< standard deviation of its logarithm before anything is measured

  bool covers(const model::Runtime& row) const;
  bool covers(std::size_t on_cards, std::size_t of_width) const {
    return (cards == any || cards == on_cards) && (width == any || width == of_width);
  }
};

/// ln(constant) = ln(its prior in model/runtime_rows.cpp) + the effects that cover it, of which
/// each is 0 within its spread before anything is measured. With r = ln(expected / measured),
///
///   minimise  sum over rows w * (sqrt(1 + (r / scale)^2) - 1) + sum over effects effect^2 / (2
///   spread^2)
///
/// by Gauss-Newton on the reweighted rows (Levenberg's damping). The loss is square near 0 and
/// linear beyond the scale, which leaves outliers without weight; the scale is of the row's group,
/// 1.48 times its median |r|. n rows of one source in one group weigh 1 / sqrt(n) each: what a
/// source has in common (its machine, its way to measure) is not told n times over.
class PooledSearch {
 public:
  /// `rows`: every engine; `subjects`: measurements of times.
  PooledSearch(std::vector<model::Runtime> rows, std::vector<Subject> subjects);
  PooledSearch(const PooledSearch&) = delete;  // subjects point to the rows
  PooledSearch& operator=(const PooledSearch&) = delete;

  /// From the effects as they are; of subjects that are left out, `used` is false.
  void solve(const std::vector<bool>& used);
  void solve() { solve(std::vector<bool>(subjects_.size(), true)); }

  const std::vector<model::Runtime>& rows() const { return rows_; }
  const std::vector<Subject>& subjects() const { return subjects_; }
  /// Under the constants as they are; nothing where there is no estimate.
  std::optional<double> expected(std::size_t subject) const;

  const std::vector<double>& effects() const { return effect_; }
  void set_effects(std::vector<double> effects);

  /// A constant with its 80 % interval (from the curvature of the sum at its least) and the
  /// subjects that it changes.
  struct Found {
    model::Constant constant;
    std::vector<std::size_t> subjects;
  };
  Found found(const model::NamedConstant& constant, const model::Runtime& row, std::size_t cards,
              std::size_t width) const;

 private:
  /// What one subject depends on: a constant of its engine, on its cards.
  struct Slot {
    const Bounds* bounds;
    const model::NamedConstant* constant;
    std::size_t cards, width;
    std::vector<std::size_t> effects;
    double slope = 0;  ///< d ln(expected) / d ln(constant)
  };

  void add_effects();
  void add_slots();
  void apply();
  void differentiate(std::size_t subject, bool all);
  void update_scales(const std::vector<bool>& used);
  double cost(const std::vector<bool>& used) const;
  double residual(std::size_t subject) const;

  std::vector<model::Runtime> prior_, rows_;
  std::vector<Subject> subjects_;
  std::vector<Effect> effects_;
  std::vector<double> effect_;
  std::vector<std::vector<Slot>> slots_;
  std::vector<double> weight_, scale_, residual_;
  std::vector<double> factor_;  ///< Cholesky's of the curvature, row by row
};

}  // namespace headroom::sweep
