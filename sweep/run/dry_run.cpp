#include "sweep/run/dry_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <tbb/info.h>

#include <algorithm>
#include <filesystem>
#include <optional>
#include <unordered_set>

#include "hardware/quantity_text.hpp"
#include "report/store.hpp"
#include "sweep/output.hpp"
#include "sweep/run/sample.hpp"

namespace headroom::sweep {
namespace {

namespace fs = std::filesystem;

std::string axis_text(const report::AxisValue& value, bool is_bytes) {
  if (const auto* whole = std::get_if<std::int64_t>(&value))
    return is_bytes ? to_text(Bytes(*whole)) : std::to_string(*whole);
  if (const auto* real = std::get_if<double>(&value)) return fmt::format("{}", *real);
  if (const auto* text = std::get_if<std::string>(&value)) return *text;
  return "default";
}

/// The distinct values of a column in the order of the digit.
std::vector<std::string> values_of(const report::Axis& axis) {
  std::unordered_set<std::string> distinct;
  std::vector<std::string> all;
  for (const auto& value : axis.values) {
    auto text = axis_text(value, axis.column.ends_with("_bytes"));
    if (distinct.insert(text).second) all.push_back(std::move(text));
  }
  return all;
}

/// The values, cut after a few.
std::string values_text(const std::vector<std::string>& values) {
  constexpr std::size_t most_shown = 6, shown_of_many = 3;
  if (values.size() <= most_shown) return fmt::format("{}", fmt::join(values, ", "));
  return fmt::format("{}, … {} ({} values)",
                     fmt::join(values.begin(), values.begin() + shown_of_many, ", "), values.back(),
                     grouped(std::ssize(values)));
}

/// A line for each axis with several values, and one for all that have a single one.
std::string axes_text(const JobGrid& grid) {
  std::string text, single;
  constexpr std::size_t values_at = 20;
  for (const auto& digit : grid.shape.digits)
    for (const auto& axis : digit) {
      const auto* column = report::find_column(axis.column);
      if (!column || column->kind != report::ColumnKind::axis) continue;
      const std::vector<std::string> values = values_of(axis);
      if (values.size() == 1) {
        single += fmt::format("{}{} {}", single.empty() ? "" : ", ", axis.column, values.front());
        continue;
      }
      std::string lines = wrapped(values_text(values), values_at, values_at);
      text += lines.replace(2, axis.column.size(), axis.column);
    }
  return single.empty() ? text : text + wrapped("all with " + single, 2, 4);
}

/// " (10 of 42 are excluded)"; empty where none is.
std::string excluded_text(Size all, std::optional<Size> left) {
  if (!left) return " (conditions of exclude combine too many values to count)";
  const Size out = all - *left;
  return out == 0 ? std::string()
                  : fmt::format(" ({} of {} are excluded)", grouped(out), grouped(all));
}

std::string_view at_most(std::optional<Size> left) { return left ? "" : "at most "; }

/// Bytes that are free where the results go.
std::optional<double> free_bytes(fs::path folder) {
  std::error_code error;
  folder = fs::absolute(folder, error);
  while (!fs::exists(folder, error) && folder.has_relative_path()) folder = folder.parent_path();
  const auto space = fs::space(folder, error);
  if (error) return std::nullopt;
  return static_cast<double>(space.available);
}

std::string csv_text(const Spec& spec, double bytes) {
  constexpr double worth_a_hint = 10e9;
  if (spec.csv == report::CsvFile::none) return "";
  return fmt::format("expected size of results.csv: {}{}{}\n", disk_text(bytes),
                     spec.csv == report::CsvFile::plain ? "" : " before compression",
                     bytes > worth_a_hint ? "; --csv none leaves it out" : "");
}

std::string cost_text(const Job& job, const Spec& spec, Size points) try {
  constexpr double long_seconds = 3600;
  const PointCost cost = sampled_cost(job, spec);
  const int threads = tbb::info::default_concurrency();
  const double seconds = cost.seconds(points, threads), bytes = cost.bytes(points);
  const auto free = free_bytes(spec.out);
  std::string text = fmt::format(
      "expected time: {} with {} of this computer; reports come on top\n"
      "expected size of results.sqlite: {}{}\n",
      seconds < 1 ? "under a second" : duration(seconds), counted(threads, "thread"),
      disk_text(bytes), free ? fmt::format("; {} are free there", disk_text(*free)) : "");
  text += csv_text(spec, cost.text_bytes * static_cast<double>(points));
  constexpr Size enough_points = 1000;  // a point of fewer takes no page of its own
  if (cost.points < enough_points) return text;
  text += fmt::format(
      "a point takes {} µs to evaluate and {} µs to store (CPU, a sample of {} points), and {} "
      "bytes\n",
      three_digits(1e6 * cost.evaluate_s), three_digits(1e6 * cost.store_s), grouped(cost.points),
      three_digits(cost.stored_bytes));
  if (free && bytes > *free)
    text += "the database does not fit there: choose another --out, or coarser axes\n";
  else if (seconds > long_seconds)
    text += "--shard K/N divides the points among machines; merging needs the disk space again\n";
  return text;
} catch (const report::StoreError& e) {
  return fmt::format("expected time and sizes: not known, no sample was stored ({})\n", e.what());
}

}  // namespace

std::string disk_text(double bytes) {
  if (bytes < 1e6) return three_digits(bytes / 1e3) + " kB";
  if (bytes < 1e9) return three_digits(bytes / 1e6) + " MB";
  return bytes < 1e12 ? three_digits(bytes / 1e9) + " GB" : three_digits(bytes / 1e12) + " TB";
}

std::string dry_run_text(const Job& job, const Spec& spec) {
  std::string text;
  std::optional<Size> all_left = 0;
  for (std::size_t g = 0; g < job.grids.size(); ++g) {
    const JobGrid& grid = job.grids[g];
    const auto left = points_left(grid.grid, grid.exclusions);
    all_left = left && all_left ? std::optional(*all_left + *left) : std::nullopt;
    const Size all = grid.grid.size();
    text += fmt::format("grid {}: {}{}{}\n{}", g + 1, at_most(left),
                        grouped(left.value_or(all), "point"), excluded_text(all, left),
                        axes_text(grid));
  }
  const Size all = job.points();
  return text +
         fmt::format("points: {}{}{}\n", at_most(all_left), grouped(all_left.value_or(all)),
                     excluded_text(all, all_left)) +
         cost_text(job, spec, all_left.value_or(job.points()));
}

}  // namespace headroom::sweep
