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

/// ln(constant) = ln(its prior) + effects: everywhere, of one runtime, of cards of one generation
/// and of one card. Without measurements each effect is 0 within its spread
/// (bench/fit/pooled_solver.hpp has the objective). Residuals are ln(expected / measured) of a
/// step. The machines and settings of a source have an effect of their own, which estimates do not
/// use, because another source has another. Published rates of products
/// (bench/fit/product_rates.hpp) count as a further runtime. They distinguish cards with few
/// or no measured steps.
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
  /// Constant of a runtime ("any": of none in particular) on any card, with its 80 % interval from
  /// the curvature and the steps that determine it.
  struct Found {
    model::Constant constant;
    std::vector<std::size_t> steps;
  };
  Found found(std::size_t constant, std::string_view runtime) const;
  /// Factors of cards relative to all cards together; empty for a constant that does not depend on
  /// cards.
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
  std::vector<std::vector<double>> sums_;  ///< sums of each row and constant, unchanged
  std::vector<double> product_shares_;     ///< shares of the peak, rows behind the steps
  std::optional<PooledSolver> solver_;
};

}  // namespace headroom::sweep
