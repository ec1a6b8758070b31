// Fits the constants of all engines together, from measurements of times. Each is pooled with
// related ones, so that a constant without measurements has their value.
#pragma once

#include <span>
#include <string_view>
#include <vector>

#include "bench/fit/pooled_solver.hpp"
#include "sweep/accuracy/constant_search.hpp"

namespace headroom::sweep {

/// A factor on one constant. It covers every engine, engines that share kernels, one engine, or one
/// generation of it, on all or some cards and widths of weights.
struct Effect {
  const model::NamedConstant* constant = nullptr;
  std::string_view kernels = {}, family = {}, generation = {};  ///< empty: any
  std::size_t cards = any, width = any;
  double spread = 0;  ///< standard deviation of its logarithm before anything is measured

  bool covers(const model::Engine& row) const;
  bool covers(std::size_t on_cards, std::size_t of_width) const {
    return (cards == any || cards == on_cards) && (width == any || width == of_width);
  }
};

/// ln(constant) = ln(its prior in model/engine/engine_rows.cpp) + the effects that cover it.
/// Without measurements each effect is 0 within its spread. Residuals are ln(expected / measured),
/// groups those of the report (bench/fit/pooled_solver.hpp has the objective). Among n rows of one
/// source in one group, each weighs less, because they share the machine and the method.
class PooledSearch {
 public:
  /// `rows`: every engine; `subjects`: measurements of times.
  PooledSearch(std::vector<model::Engine> rows, std::vector<ScoredRow> subjects);
  PooledSearch(const PooledSearch&) = delete;  // subjects point to the rows
  PooledSearch& operator=(const PooledSearch&) = delete;

  /// From the effects as they are; of subjects that are left out, `used` is false.
  void solve(const std::vector<bool>& used) { solver_->solve(used); }
  void solve() { solve(std::vector<bool>(subjects_.size(), true)); }

  const std::vector<model::Engine>& rows() const { return rows_; }
  const std::vector<ScoredRow>& subjects() const { return subjects_; }
  /// Under the constants as they are; nothing where there is no estimate.
  std::optional<double> expected(std::size_t subject) const;

  const std::vector<double>& effects() const { return solver_->effects(); }
  void set_effects(std::vector<double> effects) { solver_->set_effects(std::move(effects)); }

  /// A constant with its 80 % interval (from the curvature of the sum at its least) and the
  /// subjects that it changes.
  struct Found {
    model::Constant constant;
    std::vector<std::size_t> subjects;
  };
  Found found(const model::NamedConstant& constant, const model::Engine& row, std::size_t cards,
              std::size_t width) const;

 private:
  /// A dependence of one subject: a constant of its engine, on its cards.
  struct Slot {
    const Bounds* bounds;
    const model::NamedConstant* constant;
    std::size_t cards, width;
    std::vector<std::size_t> effects;
  };

  void add_effects();
  void add_slots();
  void apply(const std::vector<double>& effect);
  double residual(std::size_t subject) const;
  double residual_moved(std::size_t subject, std::size_t slot, double step) const;

  std::vector<model::Engine> prior_, rows_;
  std::vector<ScoredRow> subjects_;
  std::vector<Effect> effects_;
  std::vector<std::vector<Slot>> slots_;
  std::optional<PooledSolver> solver_;
};

}  // namespace headroom::sweep
