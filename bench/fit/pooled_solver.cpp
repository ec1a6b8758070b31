#include "bench/fit/pooled_solver.hpp"

#include <tbb/parallel_for.h>

#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>
#include <map>

#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {
namespace {

using Matrix = Eigen::Map<Eigen::MatrixXd>;
using Vector = Eigen::Map<Eigen::VectorXd>;

Matrix square(std::vector<double>& a, std::size_t n) {
  return {a.data(), static_cast<Eigen::Index>(n), static_cast<Eigen::Index>(n)};
}
Vector column(std::vector<double>& x) { return {x.data(), static_cast<Eigen::Index>(x.size())}; }

constexpr std::size_t none = static_cast<std::size_t>(-1);

/// Cholesky's factor, in the place of the lower triangle of a symmetric matrix (by columns). False
/// where that is not positive.
bool factorise(std::vector<double>& a, std::size_t n) {
  Matrix matrix = square(a, n);
  return Eigen::LLT<Eigen::Ref<Eigen::MatrixXd>>(matrix).info() == Eigen::Success;
}

}  // namespace

PooledSolver::PooledSolver(PooledProblem problem)
    : problem_(std::move(problem)),
      effect_(problem_.spreads.size()),
      scale_(problem_.slots.size(), 1),
      residual_(problem_.slots.size()) {}

void PooledSolver::set_effects(std::vector<double> effects) {
  effect_ = std::move(effects);
  problem_.apply(effect_);
}

void PooledSolver::residuals(const std::vector<bool>& used) {
  problem_.apply(effect_);
  tbb::parallel_for(std::size_t{0}, residual_.size(), [&](std::size_t i) {
    if (used[i]) residual_[i] = problem_.residual(i);
  });
}

void PooledSolver::differentiate(std::size_t row) {
  constexpr double step = 0.01;
  std::vector<PooledSlot>& slots = problem_.slots[row];
  for (std::size_t s = 0; s < slots.size(); ++s)
    slots[s].slope = (problem_.residual_moved(row, s, step) - residual_[row]) / step;
}

void PooledSolver::update_scales(const std::vector<bool>& used) {
  constexpr double least = 0.08;  // own effect of a model or a source
  std::map<std::string, std::vector<double>> sizes;
  for (std::size_t i = 0; i < residual_.size(); ++i)
    if (used[i]) sizes[problem_.groups[i]].push_back(std::abs(residual_[i]));
  std::map<std::string, double> scale;
  for (auto& [group, all] : sizes)
    scale[group] = std::max(least, 1.4826 * quantile(std::move(all), 0.5));
  for (std::size_t i = 0; i < residual_.size(); ++i)
    scale_[i] = used[i] ? scale.at(problem_.groups[i]) : 1;
}

double PooledSolver::cost(const std::vector<bool>& used) const {
  double sum = 0;
  for (std::size_t i = 0; i < residual_.size(); ++i)
    if (used[i]) sum += problem_.weights[i] * (std::hypot(1, residual_[i] / scale_[i]) - 1);
  for (std::size_t e = 0; e < effect_.size(); ++e)
    sum += precision(e) * effect_[e] * effect_[e] / 2;
  return sum;
}

void PooledSolver::choose_active(const std::vector<bool>& used) {
  active_.assign(effect_.size(), none);
  for (std::size_t i = 0; i < residual_.size(); ++i)
    for (const PooledSlot& slot : problem_.slots[i])
      if (used[i] && slot.slope != 0)
        for (const std::size_t e : slot.effects) active_[e] = 0;
  std::size_t place = 0;
  for (std::size_t& each : active_)
    if (each != none) each = place++;
}

std::size_t PooledSolver::active_count() const {
  return active_.size() - static_cast<std::size_t>(std::ranges::count(active_, none));
}

double PooledSolver::precision(std::size_t effect) const {
  return 1 / (problem_.spreads[effect] * problem_.spreads[effect]);
}

PooledSolver::Slope PooledSolver::slope(const std::vector<bool>& used) const {
  const std::size_t n = active_count();
  Slope found{.curvature = std::vector<double>(n * n), .gradient = std::vector<double>(n)};
  for (std::size_t e = 0; e < effect_.size(); ++e) {
    if (active_[e] == none) continue;
    found.curvature[active_[e] * n + active_[e]] = precision(e);
    found.gradient[active_[e]] = precision(e) * effect_[e];
  }
  for (std::size_t i = 0; i < residual_.size(); ++i) {
    if (!used[i]) continue;
    const double r = residual_[i], scale = scale_[i];
    const double w = problem_.weights[i] / (scale * scale * std::hypot(1, r / scale));
    for (const PooledSlot& a : problem_.slots[i]) {
      if (a.slope == 0) continue;
      for (const std::size_t e : a.effects) {
        found.gradient[active_[e]] += w * a.slope * r;
        for (const PooledSlot& b : problem_.slots[i]) {
          if (b.slope == 0) continue;
          for (const std::size_t f : b.effects)
            if (f <= e) found.curvature[active_[f] * n + active_[e]] += w * a.slope * b.slope;
        }
      }
    }
  }
  return found;
}

bool PooledSolver::step(const Slope& here, double damping, const std::vector<bool>& used) {
  const std::size_t n = here.gradient.size();
  std::vector<double> a = here.curvature, x = here.gradient;
  for (std::size_t e = 0; e < n; ++e) a[e * n + e] *= 1 + damping;
  if (!factorise(a, n)) return false;
  square(a, n).triangularView<Eigen::Lower>().solveInPlace(column(x));
  square(a, n).triangularView<Eigen::Lower>().adjoint().solveInPlace(column(x));
  const std::vector<double> kept = effect_;
  const double before = cost(used);
  // An effect that no row tells of is pulled to 0, damped like the others. If it jumped there, rows
  // on the other side of a maximum could raise the sum whatever the damping.
  for (std::size_t e = 0; e < effect_.size(); ++e)
    effect_[e] -=
        std::clamp(active_[e] == none ? kept[e] / (1 + damping) : x[active_[e]], -1.0, 1.0);
  residuals(used);
  if (cost(used) < before) return true;
  effect_ = kept;
  residuals(used);
  return false;
}

void PooledSolver::solve(const std::vector<bool>& used) {
  constexpr int passes = 30;
  constexpr double most_damping = 1e6;
  constexpr double least_gain = 0.05;  // the sum is a logarithm of a likelihood: noise is 1 or more
  residuals(used);
  double damping = 1e-3, gain = 1;
  for (int pass = 0; pass < passes && gain > least_gain; ++pass) {
    update_scales(used);
    tbb::parallel_for(std::size_t{0}, residual_.size(), [&](std::size_t i) {
      if (used[i]) differentiate(i);
    });
    choose_active(used);
    Slope here = slope(used);
    const double before = cost(used);
    while (!step(here, damping, used) && damping < most_damping) damping *= 8;
    damping = std::max(1e-4, damping / 4);
    gain = before - cost(used);
    // Intervals are of the sum itself, not of a damped step on it.
    factor_ = std::move(here.curvature);
  }
  if (!factorise(factor_, active_count())) factor_.clear();
}

double PooledSolver::spread_of(const std::vector<std::size_t>& effects) const {
  constexpr double normal_90th = 1.2816;
  if (factor_.empty()) return 0;
  const auto n = static_cast<Eigen::Index>(active_count());
  Eigen::VectorXd x = Eigen::VectorXd::Zero(n);
  double variance = 0;
  for (const std::size_t e : effects) {
    if (active_[e] == none)
      variance += 1 / precision(e);
    else
      x[static_cast<Eigen::Index>(active_[e])] = 1;
  }
  const Eigen::Map<const Eigen::MatrixXd> factor(factor_.data(), n, n);
  factor.triangularView<Eigen::Lower>().solveInPlace(x);
  return normal_90th * std::sqrt(variance + x.squaredNorm());
}

}  // namespace headroom::sweep
