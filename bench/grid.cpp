// Evaluates every point of a spec and stores none. It shows the cost of evaluation alone, with the
// blocks, threads and order of a sweep. Outcomes are read and summed instead of written, so that
// the compiler cannot drop any. The printed sum is the same for any number of threads.
//
//   bench_grid SPEC.toml [THREADS]      one line: points, seconds by the clock, CPU seconds, sum
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>

#include "hardware/catalogue.hpp"
#include "model/infer/estimate.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/runner.hpp"
#include "sweep/spec.hpp"

namespace {

using namespace headroom;

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double sum(const model::Estimate& e) {
  const auto finite = [](double x) { return std::isfinite(x) ? x : 0; };
  return static_cast<double>(e.gpu_bytes.count()) + finite(e.load.value()) +
         finite(e.total.value()) + finite(e.tokens_s) + static_cast<double>(e.verdict);
}

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    fmt::print(stderr, "usage: bench_grid SPEC.toml [THREADS]\n");
    return 2;
  }
  const auto spec = sweep::read_spec(arguments[1]);
  const auto job = sweep::make_job(spec, shipped_catalogue(), sweep::Hub());
  sweep::RunnerOptions options;
  if (count > 2) options.jobs = std::atoi(arguments[2]);
  double all = 0;
  Size points = 0;
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  sweep::evaluate_blocks(job, 0, job.points(), options, [&](const sweep::EvaluatedBlock& block) {
    for (const auto& estimate : block.estimates) all += sum(estimate);
    points += static_cast<Size>(block.estimates.size());
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{} {:.6f} {:.6f} {:.17g}\n", points, took.count(), cpu_seconds() - cpu, all);
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "error: {}\n", e.what());
  return 1;
}
