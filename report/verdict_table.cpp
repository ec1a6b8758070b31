// Every row of a run is read for this table, so large runs are read in parallel.
#include "report/verdict_table.hpp"

#include <tbb/blocked_range.h>
#include <tbb/enumerable_thread_specific.h>
#include <tbb/parallel_for.h>

#include <algorithm>
#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "hardware/units.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::report {
namespace {

constexpr std::size_t most_verdicts = 16;
constexpr Size range_points = Size{1} << 20;

/// Names that an axis has in some grid, numbered as they come.
class Numbers {
 public:
  std::size_t of(const std::string& name) {
    return numbers_.try_emplace(name, numbers_.size()).first->second;
  }
  std::size_t size() const { return numbers_.size(); }
  const std::map<std::string, std::size_t>& all() const { return numbers_; }

 private:
  std::map<std::string, std::size_t> numbers_;
};

/// The number of a point's machine or runtime.
struct NamedDigit {
  std::size_t digit = 0;
  std::vector<std::size_t> numbers = {};  ///< by position
};

NamedDigit named_digit(const GridShape& grid, std::string_view column, Numbers& numbers) {
  for (std::size_t d = 0; d < grid.digits.size(); ++d)
    for (const Axis& axis : grid.digits[d])
      if (axis.column == column) {
        NamedDigit found{d};
        for (const AxisValue& value : axis.values)
          found.numbers.push_back(numbers.of(text_of(&value)));
        return found;
      }
  NamedDigit none;
  none.numbers.assign(grid.digits.front().front().values.size(), numbers.of(""));
  return none;
}

class Counter {
 public:
  explicit Counter(const Source& source) : source_(&source) {
    for (const GridShape& grid : source.axes.info().grids) {
      machines_.push_back(named_digit(grid, "machine", machine_numbers_));
      runtimes_.push_back(named_digit(grid, "runtime", runtime_numbers_));
    }
  }

  /// By cell.
  using Counts = std::vector<Size>;
  Counts none() const {
    return Counts(machine_numbers_.size() * runtime_numbers_.size() * most_verdicts);
  }
  /// Adds points of the run, and returns how many of them there are.
  Size add(const Database& database, Size first, Size points, Counts& counts) const {
    const Axes& axes = source_->axes;
    Size seen = 0;
    database.for_each_verdict(
        source_->run.id, first, points, [&](Size point, model::Verdict verdict) {
          const auto grid = axes.grid_of(point);
          const auto at = [&](const NamedDigit& named) {
            return named.numbers[static_cast<std::size_t>(axes.position(grid, named.digit, point))];
          };
          ++counts[cell(at(machines_[grid]), at(runtimes_[grid]), verdict)];
          ++seen;
        });
    return seen;
  }
  Table table(const Counts& counts) const {
    std::map<std::tuple<std::string, std::string, std::string>, Size> by_name;
    for (const auto& [machine, m] : machine_numbers_.all())
      for (const auto& [runtime, r] : runtime_numbers_.all())
        for (std::size_t v = 0; v < most_verdicts; ++v) {
          const auto verdict = static_cast<model::Verdict>(v);
          if (const Size points = counts[cell(m, r, verdict)]; points > 0)
            by_name[{machine, runtime, std::string(model::name_of(verdict))}] += points;
        }
    Table table{{"machine", "runtime", "verdict", "points"}, {}};
    for (const auto& [key, points] : by_name)
      table.rows.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), points});
    return table;
  }

 private:
  std::size_t cell(std::size_t machine, std::size_t runtime, model::Verdict verdict) const {
    return (machine * runtime_numbers_.size() + runtime) * most_verdicts +
           static_cast<std::size_t>(verdict) % most_verdicts;
  }

  const Source* source_;
  Numbers machine_numbers_, runtime_numbers_;
  std::vector<NamedDigit> machines_, runtimes_;  ///< by grid
};

}  // namespace

Table verdict_table(const Source& source) {
  const Counter counter(source);
  const Size all = source.axes.info().points();
  auto counts = counter.none();
  Size seen = 0;
  if (all <= range_points) {
    seen = counter.add(*source.database, 0, all, counts);
  } else {
    struct Part {
      Database database;
      Counter::Counts counts;
      Size seen = 0;
    };
    tbb::enumerable_thread_specific<Part> parts([&] {
      return Part{Database(source.database->file()), counter.none()};
    });
    const tbb::blocked_range<Size> ranges(0, divided_up(all, range_points));
    tbb::parallel_for(ranges, [&](const tbb::blocked_range<Size>& some) {
      Part& part = parts.local();
      for (Size i = some.begin(); i != some.end(); ++i)
        part.seen += counter.add(part.database, i * range_points,
                                 std::min(range_points, all - i * range_points), part.counts);
    });
    for (const Part& part : parts) {
      seen += part.seen;
      for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += part.counts[i];
    }
  }
  source.database->check_points(source.run.id, seen);
  return counter.table(counts);
}

}  // namespace headroom::report
