// Evaluates every point of a spec and stores none. It shows the cost of evaluation alone, with the
// blocks, threads and order of a sweep. Outcomes are read and summed instead of written, so that
// the compiler cannot drop any. The printed sum is the same for any number of threads.
//
//   bench_grid SPEC.toml [THREADS]      one line: points, seconds by the clock, CPU seconds, sum
//   bench_grid SPEC.toml THREADS DATABASE
//       Compares each outcome with its row in the latest run of the database, bit by bit, and ends
//       with code 1 where one differs, is missing or is too many. Then a line for each stored whole
//       number: table, column and the sum of its lowest 31 bits, for a check in plain SQL.
#include <fmt/format.h>
#include <sys/resource.h>

#include <bit>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/catalogue.hpp"
#include "model/infer/estimate.hpp"
#include "report/columns.hpp"
#include "report/read.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/run/runner.hpp"
#include "sweep/spec/spec.hpp"

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

/// A table of outcomes, and the sums of its whole numbers.
struct StoredTable {
  std::string_view name;
  std::span<const report::StoredColumn> columns;
  bool (*has)(const model::Estimate&);
  std::vector<std::int64_t> sums{};
};

std::vector<StoredTable> stored_tables() {
  std::vector<StoredTable> all = {
      {"outcome", report::stored_columns(), [](const model::Estimate&) { return true; }}};
  for (const auto& side : report::side_tables()) all.push_back({side.name, side.columns, side.has});
  for (StoredTable& each : all) each.sums.resize(each.columns.size());
  return all;
}

bool are_equal(const report::StoredColumn& column, const model::Estimate& a,
               const model::Estimate& b) {
  if (column.integer) return column.integer(a) == column.integer(b);
  const double x = column.real(a), y = column.real(b);
  return std::isfinite(x) ? std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y)
                          : !std::isfinite(y);
}

/// Holds blocks of outcomes against the rows of a database.
class Comparison {
 public:
  explicit Comparison(const char* file)
      : database_(file), run_(database_.latest_run()), tables_(stored_tables()) {}

  void add(const sweep::EvaluatedBlock& block, Size first) {
    std::size_t at = 0;
    database_.read(run_, first, block.end - first, [&](Size point, const model::Estimate& row) {
      if (at == block.points.size() || block.points[at] > point)
        throw std::runtime_error(fmt::format("point {} is too many", point));
      if (block.points[at] < point)
        throw std::runtime_error(fmt::format("point {} is missing", block.points[at]));
      compare(point, block.estimates[at++], row);
    });
    if (at != block.points.size())
      throw std::runtime_error(fmt::format("point {} is missing", block.points[at]));
    rows_ += static_cast<Size>(at);
  }
  /// Rows, and the sums.
  std::string text() const {
    database_.check_points(run_, rows_);
    std::string text = fmt::format("{} rows are equal\n", rows_);
    for (const StoredTable& table : tables_)
      for (std::size_t c = 0; c < table.columns.size(); ++c)
        if (table.columns[c].integer)
          text += fmt::format("{} {} {}\n", table.name, table.columns[c].name, table.sums[c]);
    return text;
  }

 private:
  void compare(Size point, const model::Estimate& evaluated, const model::Estimate& row) {
    constexpr std::int64_t low_bits = 0x7fffffff;
    for (StoredTable& table : tables_) {
      if (!table.has(evaluated)) continue;
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        const report::StoredColumn& column = table.columns[c];
        if (!are_equal(column, evaluated, row))
          throw std::runtime_error(
              fmt::format("point {}: {} is not as evaluated", point, column.name));
        if (column.integer) table.sums[c] += column.integer(evaluated) & low_bits;
      }
    }
  }

  report::Database database_;
  std::int64_t run_;
  std::vector<StoredTable> tables_;
  Size rows_ = 0;
};

}  // namespace

int main(int count, char** arguments) try {
  if (count < 2) {
    fmt::print(stderr, "usage: bench_grid SPEC.toml [THREADS [DATABASE]]\n");
    return 2;
  }
  const auto spec = sweep::read_spec(arguments[1]);
  const auto job = sweep::make_job(spec, shipped_catalogue(), sweep::Hub());
  sweep::RunnerOptions options;
  if (count > 2) options.jobs = std::atoi(arguments[2]);
  double all = 0;
  Size points = 0, first = 0;
  std::optional<Comparison> comparison;
  if (count > 3) comparison.emplace(arguments[3]);
  const double cpu = cpu_seconds();
  const auto start = std::chrono::steady_clock::now();
  sweep::evaluate_blocks(job, 0, job.points(), options, [&](const sweep::EvaluatedBlock& block) {
    for (const auto& estimate : block.estimates) all += sum(estimate);
    points += static_cast<Size>(block.estimates.size());
    if (comparison) comparison->add(block, first);
    first = block.end;
  });
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  fmt::print("{} {:.6f} {:.6f} {:.17g}\n", points, took.count(), cpu_seconds() - cpu, all);
  if (comparison) fmt::print("{}", comparison->text());
  return 0;
} catch (const std::exception& e) {
  fmt::print(stderr, "error: {}\n", e.what());
  return 1;
}
