// Single points as data of the page, which its script sorts and filters.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <functional>
#include <set>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/format.hpp"
#include "report/page_parts.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

namespace json = boost::json;

/// Numbers of the points' table: the column, its heading, digits, and how it is shown.
struct Number {
  std::string_view column;
  DisplayUnit shown;
};
constexpr Number shown_numbers[] = {
    {"gpu_bytes", DisplayUnit::gib},       {"cpu_bytes", DisplayUnit::gib},
    {"load_s", DisplayUnit::seconds},      {"ttft_s", DisplayUnit::milliseconds},
    {"tpot_s", DisplayUnit::milliseconds}, {"tokens_s", DisplayUnit::plain}};

/// Three significant digits in the unit that is shown: a page is for eyes, other files are exact.
std::string rounded(const Cell& cell, DisplayUnit how) {
  double value = 0;
  if (const auto* n = std::get_if<std::int64_t>(&cell))
    value = static_cast<double>(*n);
  else if (const auto* x = std::get_if<double>(&cell))
    value = *x;
  else
    return "null";
  if (how == DisplayUnit::gib) value /= GiB;
  if (how == DisplayUnit::milliseconds) value *= 1000;
  if (value == 0) return "0";
  std::string text = fmt::format("{:.3g}", value);
  return text.find('e') == std::string::npos ? text : fmt::format("{:.0f}", value);
}

json::array axes_json(const Axes& axes, const std::vector<const Column*>& shown_axes) {
  json::array grids;
  for (std::size_t g = 0; g < axes.info().grids.size(); ++g) {
    json::object all;
    const auto& digits = axes.info().grids[g].digits;
    for (std::size_t d = 0; d < digits.size(); ++d)
      for (const Axis& axis : digits[d]) {
        if (std::ranges::find(shown_axes, find_column(axis.column)) == shown_axes.end()) continue;
        json::array values;
        for (const AxisValue& v : axis.values)
          if (const auto text = text_of(&v); text.empty())
            values.emplace_back(nullptr);
          else if (find_column(axis.column)->type == SqlType::text)
            values.emplace_back(text);
          else
            values.emplace_back(
                json::parse(rounded(Cell(number_of(&v, 0)), find_column(axis.column)->shown)));
        all[axis.column] = json::object{{"stride", axes.places(g)[d].stride},
                                        {"size", axes.places(g)[d].size},
                                        {"values", values}};
      }
    grids.push_back(json::object{{"first", axes.first_point(g)}, {"axes", all}});
  }
  return grids;
}

/// Axes with more than one value over the run: the others are among the assumptions.
std::vector<const Column*> varied(const Axes& axes) {
  std::vector<const Column*> all;
  for (const Column& column : columns()) {
    if (column.kind != ColumnKind::axis) continue;
    std::set<std::string> seen;
    for (std::size_t g = 0; g < axes.info().grids.size(); ++g) {
      bool there = false;
      for (const Digit& digit : axes.info().grids[g].digits)
        for (const Axis& axis : digit)
          if (axis.column == column.name) {
            there = true;
            for (const AxisValue& v : axis.values) seen.insert(text_of(&v));
          }
      if (!there) seen.insert("");
    }
    if (seen.size() > 1) all.push_back(&column);
  }
  return all;
}

/// Safe inside <script>: nothing there can end it or open a comment.
std::string in_script(const std::string& text) {
  std::string safe;
  for (const char c : text)
    if (c == '<')
      safe += "\\u003c";
    else
      safe += c;
  return safe;
}

/// Calls `visit` for the points that a page holds, in order: all, or those of tables and curves
/// where that is too many. Returns how many.
Size visit_shown(const Source& source,
                 const std::function<void(Size, const model::Estimate&)>& visit) {
  if (source.run.points <= max_page_points) {
    source.database->for_each(source.run.id, visit);
    return source.run.points;
  }
  std::vector<const BudgetPoint*> points;
  for (const ModelRow* line : source.shown)
    for (const BudgetPoint& entry : line->entries) points.push_back(&entry);
  std::ranges::sort(points, {}, &BudgetPoint::point);
  if (static_cast<Size>(points.size()) > max_page_points)
    points.resize(static_cast<std::size_t>(max_page_points));
  for (const BudgetPoint* each : points) visit(each->point, each->estimate);
  return static_cast<Size>(points.size());
}

/// Name, heading and kind of each column, with the words of verdicts.
json::array columns_of_points(const std::vector<const Column*>& axes) {
  json::array columns_json;
  for (const Column* column : axes)
    columns_json.push_back(json::object{{"name", column->name},
                                        {"heading", heading(*column)},
                                        {"axis", true},
                                        {"number", column->type != SqlType::text}});
  json::array words, classes;
  constexpr std::string_view grade_classes[] = {"good", "good", "fair", "fair", "bad", "none"};
  for (int v = 0; v < 6; ++v)
    for (int s = 0; s < 3; ++s) {
      const bool unsure = static_cast<model::Confidence>(s) == model::Confidence::marginal;
      words.emplace_back(fmt::format("{}{}", model::name_of(static_cast<model::Verdict>(v)),
                                     unsure ? ", not sure" : ""));
      classes.emplace_back(grade_classes[v]);
    }
  columns_json.push_back(json::object{{"name", "verdict"},
                                      {"heading", "verdict"},
                                      {"number", false},
                                      {"words", words},
                                      {"classes", classes}});
  for (const Number& number : shown_numbers)
    columns_json.push_back(json::object{{"name", number.column},
                                        {"heading", heading(*find_column(number.column))},
                                        {"number", true}});
  return columns_json;
}

}  // namespace

Document points_part(const Source& source) {
  const auto axes = varied(source.axes);
  std::string numbers[std::size(shown_numbers)], verdicts, deltas;
  const Column* number_columns[std::size(shown_numbers)];
  std::ranges::transform(shown_numbers, number_columns, find_column, &Number::column);
  Size last = 0;
  const auto add = [&](Size point, const model::Estimate& e) {
    const char* comma = deltas.empty() ? "" : ",";
    deltas += fmt::format("{}{}", comma, point - last);
    last = point;
    verdicts +=
        fmt::format("{}{}", comma, 3 * static_cast<int>(e.verdict) + static_cast<int>(e.sure));
    for (std::size_t n = 0; n < std::size(shown_numbers); ++n)
      numbers[n] += comma + rounded(value_of(*number_columns[n], e, {}), shown_numbers[n].shown);
  };
  const Size points = visit_shown(source, add);
  if (points == 0) return {};
  std::string data = fmt::format("{{\"columns\":{},\"grids\":{},\"point\":[{}],\"verdict\":[{}]",
                                 json::serialize(columns_of_points(axes)),
                                 json::serialize(axes_json(source.axes, axes)), deltas, verdicts);
  for (std::size_t n = 0; n < std::size(shown_numbers); ++n)
    data += fmt::format(",\"{}\":[{}]", shown_numbers[n].column, numbers[n]);
  const std::string which =
      points == source.run.points
          ? fmt::format("All {} of the run", counted(points, "point"))
          : fmt::format(
                "{} of {}: those of the tables and curves, where every other axis "
                "stands at its first or smallest value",
                points, counted(source.run.points, "point"));
  return Document()
      .paragraph(fmt::format("{}, rounded; {} has every point, exact.", which, source.every_point))
      .add(Interactive{fmt::format(
          "<noscript><p>Sorting and filtering single points needs script; the tables above and "
          "below do not.</p></noscript><div id=\"points-section\" hidden><form "
          "id=\"points-form\"><label>Filter by words<input type=\"search\" id=\"points-text\" "
          "autocomplete=\"off\"></label></form><p role=\"status\" id=\"points-count\" "
          "class=\"soft\"></p><div class=\"scroll tall\" tabindex=\"0\" role=\"region\" "
          "aria-label=\"Points\"><table id=\"points\"><thead><tr></tr></thead><tbody></tbody>"
          "</table></div><button type=\"button\" class=\"more\" id=\"points-more\">Show more"
          "</button></div><script type=\"application/json\" id=\"data\">{}}}</script>",
          in_script(data))});
}

}  // namespace headroom::report
