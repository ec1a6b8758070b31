// Rows to CSV. The fields of axes and facts are written once per axis value, not once per row.
#include "report/csv.hpp"

#include <charconv>
#include <optional>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "report/axes.hpp"
#include "report/columns.hpp"

namespace headroom::report {
namespace {

constexpr std::size_t buffer_bytes = 1 << 18;

template <class Number>
void append_number(std::string& line, Number value) {
  char digits[32];
  line.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append(std::string& line, const Cell& cell) {
  if (const auto* n = std::get_if<std::int64_t>(&cell))
    append_number(line, *n);
  else if (const auto* x = std::get_if<double>(&cell))
    append_number(line, *x);
  else if (const auto* s = std::get_if<std::string_view>(&cell))
    line += csv_field(*s);
}

void flush(std::ostream& out, std::string& buffer) {
  out.write(buffer.data(), static_cast<std::streamsize>(buffer.size()));
  if (!out) throw std::ios_base::failure("writing CSV failed");
  buffer.clear();
}

/// One grid: for each column its digit and the fields of its values; empty fields: no such axis.
struct GridFields {
  struct ColumnFields {
    std::size_t digit = 0;
    std::vector<std::string> fields;
  };
  std::vector<ColumnFields> columns;
  std::vector<model::IntervalFactors> factors;    ///< by the point's runtime, then its machine
  std::optional<std::size_t> runtimes, machines;  ///< digits; machines: where it is another one
  Size machine_count = 1;
  const model::IntervalFactors& factors_of(const Axes& axes, std::size_t grid, Size point) const {
    const auto at = [&](std::optional<std::size_t> digit) {
      return digit ? static_cast<Size>(axes.position(grid, *digit, point)) : Size{0};
    };
    return factors[static_cast<std::size_t>(at(runtimes) * machine_count + at(machines))];
  }
};

GridFields fields_of(const Axes& axes, std::size_t grid) {
  GridFields all;
  all.columns.resize(columns().size());
  const auto& digits = axes.info().grids[grid].digits;
  for (std::size_t d = 0; d < digits.size(); ++d)
    for (const Axis& axis : digits[d]) {
      const auto column = static_cast<std::size_t>(find_column(axis.column) - columns().data());
      auto& [digit, fields] = all.columns[column];
      digit = d;
      for (const AxisValue& v : axis.values) fields.push_back(csv_field(text_of(&v)));
      if (axis.column == "memory_low") all.runtimes = d;
      if (axis.column == "ram_stated") all.machines = d;
    }
  if (all.machines == all.runtimes) all.machines.reset();
  const auto place = [&](std::optional<std::size_t> digit) {
    return digit ? axes.places(grid)[*digit] : Place{.size = 1, .stride = 0};
  };
  const Place runtime = place(all.runtimes), machine = place(all.machines);
  all.machine_count = machine.size;
  for (Size i = 0; i < runtime.size; ++i)
    for (Size j = 0; j < machine.size; ++j)
      all.factors.push_back(
          axes.factors(axes.first_point(grid) + i * runtime.stride + j * machine.stride));
  return all;
}

}  // namespace

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

void write_csv(std::ostream& out, const Table& table) {
  std::string buffer;
  for (std::size_t c = 0; c < table.names.size(); ++c)
    buffer += (c ? "," : "") + csv_field(table.names[c]);
  buffer += "\r\n";
  for (const auto& row : table.rows) {
    for (std::size_t c = 0; c < row.size(); ++c) buffer += (c ? "," : "") + csv_field(text(row[c]));
    buffer += "\r\n";
    if (buffer.size() > buffer_bytes) flush(out, buffer);
  }
  flush(out, buffer);
}

void write_csv(std::ostream& out, const Database& database, std::int64_t run,
               std::span<const Column* const> selected, const Condition* where) {
  const Axes axes(database.run(run));
  std::vector<GridFields> grids;
  for (std::size_t g = 0; g < axes.info().grids.size(); ++g) grids.push_back(fields_of(axes, g));
  std::string buffer;
  buffer.reserve(buffer_bytes + 4096);
  for (const Column* c : selected) {
    buffer += c->name;
    buffer += c == selected.back() ? "\r\n" : ",";
  }
  std::vector<Cell> read(where ? where->columns_read().size() : 0);
  database.for_each(run, [&](Size point, const model::Estimate& estimate) {
    const auto g = axes.grid_of(point);
    const GridFields& grid = grids[g];
    const auto& factors = grid.factors_of(axes, g, point);
    if (where) {
      for (std::size_t i = 0; i < read.size(); ++i)
        read[i] = axes.cell(*where->columns_read()[i].column, point, estimate, factors);
      if (!where->holds(read)) return;
    }
    for (const Column* c : selected) {
      const auto& [digit, fields] = grid.columns[static_cast<std::size_t>(c - columns().data())];
      if (c != selected.front()) buffer += ',';
      if (!fields.empty())
        buffer += fields[static_cast<std::size_t>(axes.position(g, digit, point))];
      else if (c->kind == ColumnKind::point)
        append_number(buffer, point);
      else
        append(buffer, value_of(*c, estimate, factors));
    }
    buffer += "\r\n";
    if (buffer.size() > buffer_bytes) flush(out, buffer);
  });
  flush(out, buffer);
}

void write_csv(std::ostream& out, const Database& database, std::int64_t run) {
  write_csv(out, database, run, columns_of(database.run(run)));
}

}  // namespace headroom::report
