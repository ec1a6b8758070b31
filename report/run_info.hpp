// Contents of a run: its grids, each a mixed-radix number whose digits give the values of the axes.
// Points are numbered over all grids of a run, the first grid first, the last digit fastest.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "hardware/machine.hpp"
#include "hardware/price.hpp"
#include "model/checkpoint/model.hpp"
#include "model/engine/engine.hpp"
#include "report/columns.hpp"

namespace headroom::report {

/// A number in the column's unit, or a name; empty: none (no budget: all of it).
using AxisValue = std::variant<std::monostate, std::int64_t, double, std::string>;

/// A column of kind axis or fact, with its values in the order of the spec.
struct Axis {
  std::string column;  ///< a name of columns(): "model", "batch", "gpu_budget_bytes"
  std::vector<AxisValue> values;
  /// Fingerprint of the object that each value names (a model's description, a machine's row). It
  /// detects a name with changed content. Empty: the values are complete.
  std::vector<std::int64_t> fingerprints{};
  bool operator==(const Axis&) const = default;
};

/// Axes that move together, all of the same length: one axis and the facts that follow from it, or
/// several linked axes.
using Digit = std::vector<Axis>;

struct GridShape {
  std::vector<Digit> digits;  ///< the last one moves fastest
  std::string excluded{};     ///< the conditions that leave points out, one a line; empty: none do
  /// Number of points, excluded ones counted. Throws std::overflow_error beyond 2^40.
  Size points() const;
  bool operator==(const GridShape&) const = default;
};

/// A model of a run, where its metadata came from, and why none of its verdicts is sure (empty
/// where some may be).
struct ModelOrigin {
  std::string model, source, doubt{};
  bool operator==(const ModelOrigin&) const = default;
};

/// A fact of what an axis value names: "bandwidth" of "rtx-4090" is "1008" "GB/s".
struct Fact {
  std::string part;   ///< which part of a machine has it: "card", "host"; else empty
  std::string owner;  ///< the name of that part, or of the model or engine
  std::string name, value, unit;
  bool operator==(const Fact&) const = default;
};

struct RunInfo {
  std::string name;         ///< [run] name: the folder below out/
  std::string spec;         ///< the spec's text
  std::string fingerprint;  ///< fingerprint of everything the results depend on: spec, models,
                            ///< hardware, version
  std::string version;      ///< version of the program
  std::vector<GridShape> grids;
  std::vector<ModelOrigin> models{};
  /// Facts behind the fingerprints of its axes. A diff names those that changed.
  std::map<std::int64_t, std::vector<Fact>> facts{};
  Size points() const;
};

/// The columns that its points can have values in: without a training grid none of training alone.
std::vector<const Column*> columns_of(const RunInfo& info);

/// A digit for models, machines or runtimes: the axis itself (`names`, as the user knows them) and
/// every fact of columns() that follows from it. Same length both.
Digit model_digit(std::span<const std::string> names, std::span<const model::Model* const> models);
/// `prices`: null where the user gave none, and what costs money stays empty.
Digit machine_digit(std::span<const std::string> names, std::span<const Machine* const> machines,
                    const Prices* prices = nullptr);
Digit runtime_digit(std::span<const std::string> names,
                    std::span<const model::Engine* const> runtimes);

}  // namespace headroom::report
