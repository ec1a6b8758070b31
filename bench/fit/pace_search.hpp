// Constants of training times that bring estimates nearest to measured steps.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/fit/pooled_solver.hpp"
#include "sweep/accuracy/training_measurement.hpp"

namespace headroom::sweep {

/// ln(constant) = ln(its prior) + what it is off by everywhere, under one runtime, on cards of one
/// generation and on one card, of which each is 0 within its spread before anything is measured
/// (bench/fit/pooled_solver.hpp says what is minimised). Residuals are ln(expected / measured)
/// of a step. What a source's machines or settings do to its rows is an effect of its own, which
/// nothing is expected with: another source has another. Published rates of
/// products (sweep/training/product_rates.hpp) stand beside them as a runtime that does nothing
/// else: they tell cards apart that few steps or none were measured on.
class PaceSearch {
 public:
  explicit PaceSearch(std::span<const TimedStep> steps);
  PaceSearch(const PaceSearch&) = delete;  // the solver's functions point here
  PaceSearch& operator=(const PaceSearch&) = delete;

  /// From the effects as they are; of steps that are left out, `used` is false.
  void solve(std::vector<bool> used);
  const std::vector<double>& effects() const { return solver_->effects(); }
  void set_effects(std::vector<double> effects) { solver_->set_effects(std::move(effects)); }

  /// Seconds of a step by the constants as they are.
  double expected(std::size_t step) const;

  /// Names of runtimes and cards that constants differ by; cards: generations, then single ones.
  std::vector<std::string> runtimes() const;
  struct On {
    std::string runtime, cards;  ///< "any": whatever runs on them
  };
  std::vector<On> cards() const;
  /// Of a runtime ("any": of none in particular) on no card in particular; with its 80 % interval
  /// from the curvature and the steps that tell it.
  struct Found {
    model::Constant constant;
    std::vector<std::size_t> steps;
  };
  Found found(std::size_t constant, std::string_view runtime) const;
  /// What cards reach, over what all do together; nothing of a constant that cards have no part in.
  std::optional<Found> found_on(std::size_t constant, const On& on) const;

 private:
  struct Effect {
    std::size_t constant;
    std::string runtime, cards;  ///< empty: any
    double spread;
    std::string source{};  ///< empty: any
  };

  void add_effects();
  double residual(std::size_t row, const std::vector<double>& sums) const;
  model::TrainingPace pace(std::size_t step, const std::vector<double>& sums) const;
  Found found_of(std::vector<std::size_t> effects, double prior, std::size_t constant) const;

  std::span<const TimedStep> steps_;
  std::vector<Effect> effects_;
  std::vector<std::vector<double>> sums_;  ///< of each row and constant, as they are
  std::vector<double> product_shares_;     ///< of the peak, rows behind the steps
  std::optional<PooledSolver> solver_;
};

}  // namespace headroom::sweep
