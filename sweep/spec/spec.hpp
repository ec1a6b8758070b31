// The spec of a sweep: TOML in, axes as written out. Names are not looked up here.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"
#include "model/infer/estimate.hpp"
#include "report/csv_file.hpp"
#include "sweep/spec/budget.hpp"

namespace headroom::sweep {

/// A spec that cannot be understood. The message names file, line, key, what was found and what is
/// allowed. Exit code 2.
class SpecError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// One [[grid]]: the values of every axis, usual ones filled in.
struct GridSpec {
  int line = 0;
  model::Task task = model::Task::inference;
  /// By the axis' key, numbers and ranges written out.
  std::map<std::string, std::vector<std::string>, std::less<>> all_values;
  std::vector<std::vector<std::string>> link;  ///< axis keys that move together
  std::vector<std::string> exclude;            ///< SQL conditions of points to leave out
  std::map<std::string, int> lines;            ///< line of each given key

  /// Empty where the axis has none.
  const std::vector<std::string>& values(std::string_view axis) const;
  std::vector<Size> numbers(std::string_view axis) const;
  /// The axes that move together with `axis`; null: it moves alone.
  const std::vector<std::string>* link_of(std::string_view axis) const;
  /// Memory that a process may use on each card; empty: all of it.
  std::vector<BudgetRange> gpu_budgets() const;
};

struct Spec {
  std::string file, text;     ///< as given, and its whole content
  std::string name;           ///< [run] name; the file's stem by default
  std::filesystem::path out;  ///< [run] out; out/<name> by default
  std::vector<std::filesystem::path>
      hardware;                                ///< [run] hardware: TOML files, relative to the spec
  std::vector<std::filesystem::path> engines;  ///< [run] engines: TOML files, relative to the spec
  std::filesystem::path prices;                ///< [prices] file, relative to the spec; empty: none
  bool plots = true;                           ///< [report] plots
  report::CsvFile csv = report::CsvFile::plain;  ///< [report] csv
  std::vector<GridSpec> grids;

  /// SpecError about `key` of `grid`.
  SpecError error(const GridSpec& grid, std::string_view key, const std::string& what) const;
};

/// Axis keys of a grid of the task, in the order of their digits.
const std::vector<std::string>& axes_of(model::Task task);

/// Throws SpecError.
Spec parse_spec(std::string_view toml, std::string file);
/// Reads a file of at most 16 MiB.
Spec read_spec(const std::filesystem::path& file);

/// One of csv_file_words. Throws std::invalid_argument that lists them.
report::CsvFile csv_file_named(std::string_view text);

/// "4096-131072*2", "0-80+1", "7": the values, ascending. Throws std::invalid_argument that says
/// what was expected.
std::vector<Size> parse_range(std::string_view text);

}  // namespace headroom::sweep
