#include "sweep/accuracy/pooled_solver.hpp"

#include <tbb/parallel_for.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {
namespace {

/// The Cholesky factor of a symmetric A, row by row, left in `a`. False where A is not positive.
bool factorise(std::vector<double>& a, std::size_t n) {
  for (std::size_t j = 0; j < n; ++j) {
    double* row = &a[j * n];
    for (std::size_t k = 0; k <= j; ++k) {
      const double* other = &a[k * n];
      double sum = row[k];
      for (std::size_t i = 0; i < k; ++i) sum -= row[i] * other[i];
      if (k < j)
        row[k] = sum / other[k];
      else if (sum <= 0)
        return false;
      else
        row[k] = std::sqrt(sum);
    }
  }
  return true;
}
void forward(const std::vector<double>& l, std::size_t n, std::vector<double>& x) {
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) x[i] -= l[i * n + k] * x[k];
    x[i] /= l[i * n + i];
  }
}
void backward(const std::vector<double>& l, std::size_t n, std::vector<double>& x) {
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) x[i] -= l[k * n + i] * x[k];
    x[i] /= l[i * n + i];
  }
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

void PooledSolver::differentiate(std::size_t row, bool all) {
  std::vector<PooledSlot>& slots = problem_.slots[row];
  for (std::size_t s = 0; s < slots.size(); ++s) {
    if (!all && slots[s].slope == 0) continue;
    double step = 0.05;
    const double moved = problem_.residual_moved(row, s, step);
    slots[s].slope = (moved - residual_[row]) / step;
  }
}

void PooledSolver::update_scales(const std::vector<bool>& used) {
  constexpr double least = 0.08;  // what a model or a source has of its own
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
    sum += effect_[e] * effect_[e] / (2 * problem_.spreads[e] * problem_.spreads[e]);
  return sum;
}

void PooledSolver::solve(const std::vector<bool>& used) {
  const std::size_t n = effect_.size(), rows = residual_.size();
  constexpr int passes = 15;
  residuals(used);
  double damping = 1e-3;
  for (int pass = 0; pass < passes; ++pass) {
    update_scales(used);
    tbb::parallel_for(std::size_t{0}, rows, [&](std::size_t i) {
      if (used[i]) differentiate(i, pass % 4 == 0);
    });
    std::vector<double> curvature(n * n), gradient(n);
    for (std::size_t e = 0; e < n; ++e) {
      const double precision = 1 / (problem_.spreads[e] * problem_.spreads[e]);
      curvature[e * n + e] = precision;
      gradient[e] = precision * effect_[e];
    }
    for (std::size_t i = 0; i < rows; ++i) {
      if (!used[i]) continue;
      const double r = residual_[i], scale = scale_[i];
      const double w = problem_.weights[i] / (scale * scale * std::hypot(1, r / scale));
      for (const PooledSlot& a : problem_.slots[i]) {
        if (a.slope == 0) continue;
        for (const std::size_t e : a.effects) {
          gradient[e] += w * a.slope * r;
          for (const PooledSlot& b : problem_.slots[i])
            for (const std::size_t f : b.effects)
              if (f <= e) curvature[e * n + f] += w * a.slope * b.slope;
        }
      }
    }
    // Intervals are of the sum itself, not of a damped step on it.
    factor_ = curvature;
    if (!factorise(factor_, n)) factor_.clear();
    const std::vector<double> kept = effect_;
    const double before = cost(used);
    double moved = 0;
    bool better = false;
    for (int attempt = 0; attempt < 6 && !better; ++attempt) {
      std::vector<double> a = curvature, x = gradient;
      for (std::size_t e = 0; e < n; ++e) a[e * n + e] *= 1 + damping;
      if (factorise(a, n)) {
        forward(a, n, x);
        backward(a, n, x);
        moved = 0;
        for (std::size_t e = 0; e < n; ++e) {
          const double by = std::clamp(x[e], -1.0, 1.0);
          effect_[e] = kept[e] - by;
          moved = std::max(moved, std::abs(by));
        }
        residuals(used);
        better = cost(used) < before;
      }
      if (better) {
        damping = std::max(1e-4, damping / 4);
      } else {
        effect_ = kept;
        damping *= 8;
      }
    }
    if (!better) {
      residuals(used);
      break;
    }
    if (moved < 0.005) break;
  }
}

double PooledSolver::spread_of(const std::vector<std::size_t>& effects) const {
  constexpr double normal_90th = 1.2816;
  if (factor_.empty()) return 0;
  std::vector<double> x(effect_.size());
  for (const std::size_t e : effects) x[e] = 1;
  forward(factor_, effect_.size(), x);
  double variance = 0;
  for (const double each : x) variance += each * each;
  return normal_90th * std::sqrt(variance);
}

}  // namespace headroom::sweep
