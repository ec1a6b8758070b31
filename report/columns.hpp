// The one list of columns: schema, insert, views, CSV, Markdown and `column_meaning` follow from
// it. A readable column is an axis of the grid, a fact about an axis value, an outcome of a point,
// or a derived value. A model's parameters are such a fact. An outcome times an interval factor is
// a derived value. Only outcomes are stored row by row, packed into few columns: the writer is what
// limits a sweep.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "hardware/machine.hpp"
#include "hardware/price.hpp"
#include "model/checkpoint/model.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"

namespace headroom::report {

/// One value of a row. Empty: unknown, not applicable, or infinite. Text lives as long as its
/// owner.
using Cell = std::variant<std::monostate, std::int64_t, double, std::string_view>;

enum class ColumnKind { point, axis, fact, outcome, derived };
enum class SqlType { integer, real, text };

/// Points that have a column: any; those of training; those that ask for a concurrency.
enum class AppliesTo { any, training, serving };

/// How a text or Markdown table shows the number. CSV, JSON and SQL always have the unit itself.
enum class DisplayUnit { plain, gib, milliseconds, seconds, percent, billions };

/// The source of a column's value.
using OfEstimate = Cell (*)(const model::Estimate&);
using OfModel = Cell (*)(const model::Model&);
using OfMachine = Cell (*)(const Machine&);
using OfRuntime = Cell (*)(const model::Engine&);
using OfPrices = Cell (*)(const Prices&, const Machine&);
/// From an outcome and the run's interval factors.
using OfFactors = Cell (*)(const model::Estimate&, const model::IntervalFactors&);
using Origin =
    std::variant<std::monostate, OfEstimate, OfModel, OfMachine, OfRuntime, OfPrices, OfFactors>;

struct Column {
  std::string_view name;     ///< as in SQL and CSV; carries the unit: "weights_bytes"
  std::string_view unit;     ///< "B", "s", "tokens/s", …; empty: a name or a count
  std::string_view heading;  ///< over a column of a text table: "weights"
  std::string_view meaning;  ///< one line for column_meaning
  ColumnKind kind;
  SqlType type;
  DisplayUnit shown;
  Origin origin;    ///< axes have none: the spec gives their values
  std::string sql;  ///< outcomes: an expression over stored columns; derived ones: also
                    ///< over facts, whose names stand in brackets
  AppliesTo applies_to = AppliesTo::any;  ///< empty but for such points
};

/// Every readable column, in the order of `result` and results.csv.
std::span<const Column> columns();
/// nullptr: no such column.
const Column* find_column(std::string_view name);

/// The value of an outcome or derived column, as the views give it. `factors` are those of the
/// point's runtime.
Cell value_of(const Column& column, const model::Estimate& estimate,
              const model::IntervalFactors& factors);

/// One column of the table that holds the outcomes, and how an Estimate goes into it and out of it.
struct StoredColumn {
  std::string_view name;
  SqlType type;                                     ///< integer or real
  std::int64_t (*integer)(const model::Estimate&);  ///< type integer
  double (*real)(const model::Estimate&);           ///< type real; not finite: stored as NULL
  void (*restore_integer)(model::Estimate&, std::int64_t);
  void (*restore_real)(model::Estimate&, double);
};
std::span<const StoredColumn> stored_columns();

/// A side table with rows only for points that have such an outcome, so that all other points stay
/// narrow.
struct SideTable {
  std::string_view name;
  std::span<const StoredColumn> columns;
  bool (*has)(const model::Estimate&);
};
std::span<const SideTable> side_tables();

/// SQL over the table run: that a run is complete and whole. A shard is neither.
inline constexpr std::string_view complete_run =
    "finished IS NOT NULL AND first_point = 0 AND end_point = all_points";

/// The statements that create the tables, and those that create (or renew) the views and
/// column_meaning in a file that has the tables.
std::string create_tables();
std::string create_views();
/// The views for a connection that may not write.
std::string create_temporary_views();
/// The schema version in the file: it differs whenever the tables do.
std::int32_t schema_version();

}  // namespace headroom::report
