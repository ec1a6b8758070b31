#include "report/run_text.hpp"

#include <algorithm>

#include "report/csv.hpp"
#include "report/format.hpp"

namespace headroom::report {
namespace {

void append(GrowingText& line, const Cell& cell, NumberText& number) {
  if (const auto* text = std::get_if<std::string_view>(&cell)) {
    if (needs_quotes(*text))
      line.append(csv_field(*text));
    else
      line.append(*text);
    return;
  }
  if (const auto* n = std::get_if<std::int64_t>(&cell))
    number.set(*n);
  else if (const auto* x = std::get_if<double>(&cell))
    number.set(*x);
  else
    return;
  line.append(number);
}

}  // namespace

void Combination::add(std::size_t digit, Size size) {
  if (std::ranges::find(parts, digit, &Part::digit) != parts.end()) return;
  parts.push_back({digit, count});
  count *= size;
}

std::size_t Combination::at(const std::vector<Size>& positions) const {
  Size n = 0;
  for (const Part& each : parts) n += positions[each.digit] * each.times;
  return static_cast<std::size_t>(n);
}

GridText::GridText(const Axes& axes, std::size_t grid, std::span<const Column* const> selected)
    : places_(axes.places(grid)), first_(axes.first_point(grid)) {
  const auto& digits = axes.info().grids[grid].digits;
  std::size_t runtimes = 0, machines = 0;
  for (std::size_t d = 0; d < digits.size(); ++d)
    for (const Axis& axis : digits[d]) {
      if (axis.column == "memory_low") runtimes = d;
      if (axis.column == "ram_stated") machines = d;
    }
  for (const std::size_t d : {runtimes, machines})
    if (d < digits.size()) factors_of_.add(d, places_[d].size);
  for (Size n = 0; n < factors_of_.count; ++n)
    factors_.push_back(axes.factors(point_of(factors_of_, n)));
  for (const Column* column : selected) add(column, digits, column == selected.front());
}

void GridText::locate(Size point, RowState& state) const {
  state.positions.resize(places_.size());
  for (std::size_t d = 0; d < places_.size(); ++d)
    state.positions[d] = (point - first_) / places_[d].stride % places_[d].size;
  state.numbers.resize(pieces_.size());
}

void GridText::advance(RowState& state) const {
  for (std::size_t d = places_.size(); d-- > 0;) {
    if (++state.positions[d] < places_[d].size) return;
    state.positions[d] = 0;
  }
}

void GridText::append_row(GrowingText& text, Size point, RowState& state,
                          const model::Estimate& estimate) const {
  const model::IntervalFactors& of = factors(state.positions);
  for (std::size_t p = 0; p < pieces_.size(); ++p) {
    const Piece& piece = pieces_[p];
    if (piece.computed == nullptr) {
      text.append(piece.texts[piece.of.at(state.positions)]);
      continue;
    }
    if (p > 0) text.append(',');
    const bool is_number = piece.computed->kind == ColumnKind::point;
    append(text, is_number ? Cell(point) : value_of(*piece.computed, estimate, of),
           state.numbers[p]);
  }
  text.append(std::string_view("\r\n"));
}

Size GridText::point_of(const Combination& of, Size n) const {
  Size point = first_;
  for (const auto& part : of.parts)
    point += n / part.times % places_[part.digit].size * places_[part.digit].stride;
  return point;
}

void GridText::add(const Column* column, const std::vector<Digit>& digits, bool is_first) {
  constexpr Size most_texts = 4096;
  for (std::size_t d = 0; d < digits.size(); ++d)
    for (const Axis& axis : digits[d]) {
      if (axis.column != column->name) continue;
      if (pieces_.empty() || pieces_.back().computed != nullptr) pieces_.emplace_back();
      Combination joint = pieces_.back().of;
      joint.add(d, places_[d].size);
      if (joint.count > most_texts && !pieces_.back().texts.empty()) {
        pieces_.emplace_back();
        joint = {};
        joint.add(d, places_[d].size);
      }
      extend(pieces_.back(), joint, d, axis, is_first);
      return;
    }
  if (column->kind != ColumnKind::axis && column->kind != ColumnKind::fact) {
    pieces_.push_back({.computed = column, .of = {}, .texts = {}});
    return;
  }
  // The grid has no such axis.
  if (pieces_.empty() || pieces_.back().computed != nullptr)
    pieces_.push_back({.computed = nullptr, .of = {}, .texts = {std::string()}});
  if (!is_first)
    for (std::string& text : pieces_.back().texts) text += ',';
}

void GridText::extend(Piece& piece, const Combination& joint, std::size_t digit, const Axis& axis,
                      bool is_first) const {
  const auto before = static_cast<Size>(std::max<std::size_t>(piece.texts.size(), 1));
  if (piece.texts.empty()) piece.texts.emplace_back();
  // Texts of the digits so far repeat for each position of the new one.
  while (std::ssize(piece.texts) < joint.count)
    piece.texts.push_back(piece.texts[static_cast<std::size_t>(std::ssize(piece.texts) % before)]);
  piece.of = joint;
  const auto part = std::ranges::find(joint.parts, digit, &Combination::Part::digit);
  std::vector<std::string> fields;
  for (const AxisValue& value : axis.values)
    fields.push_back((is_first ? "" : ",") + csv_field(text_of(&value)));
  for (Size n = 0; n < joint.count; ++n)
    piece.texts[static_cast<std::size_t>(n)] +=
        fields[static_cast<std::size_t>(n / part->times % places_[digit].size)];
}

RunText::RunText(RunInfo run, std::span<const Column* const> selected)
    : axes_(std::move(run)), selected_(selected) {
  for (std::size_t g = 0; g < axes_.info().grids.size(); ++g)
    grids_.emplace_back(axes_, g, selected);
}

std::string RunText::header() const {
  std::string text;
  for (const Column* c : selected_) {
    text += c->name;
    text += c == selected_.back() ? "\r\n" : ",";
  }
  return text;
}

Size RunText::points() const {
  Size all = 0;
  for (const GridShape& grid : axes_.info().grids) all += grid.points();
  return all;
}

void RunText::read_block(const Database& database, std::int64_t run, Size first, Size points,
                         const Condition* where, TextBlock& made) const {
  made.text.clear();
  made.points = 0;
  RowState state;
  std::vector<Cell> read(where ? where->columns_read().size() : 0);
  const GridText* grid = nullptr;
  Size before = 0;
  database.read(run, first, points, [&](Size point, const model::Estimate& estimate) {
    ++made.points;
    const GridText* here = &grids_[axes_.grid_of(point)];
    if (here == grid && point == before + 1)
      grid->advance(state);
    else
      here->locate(point, state);
    grid = here;
    before = point;
    if (where) {
      for (std::size_t i = 0; i < read.size(); ++i)
        read[i] = axes_.cell(*where->columns_read()[i].column, point, estimate,
                             grid->factors(state.positions));
      if (!where->holds(read)) return;
    }
    grid->append_row(made.text, point, state, estimate);
  });
}

}  // namespace headroom::report
