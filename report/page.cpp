// index.html: a whole run on one page. Tables and curves need no script; sorting, filtering and the
// single points do.
#include <fmt/format.h>

#include <algorithm>

#include "hardware/quantity_text.hpp"
#include "report/chosen_figures.hpp"
#include "report/format.hpp"
#include "report/html_page.hpp"
#include "report/page_parts.hpp"
#include "report/svg.hpp"
#include "report/training_points.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

/// The number of models that run well on each machine, and the run.
Document page_summary(const Source& source) {
  Document summary;
  if (!source.lines.empty()) summary.add(machines_summary(source));
  return summary.add(Paragraph{
      fmt::format("Run {} of {}, finished {}, headroom {}, {}.", source.run.id, source.run.name,
                  source.run.finished, source.run.version, counted(source.run.points, "point")),
      true});
}

/// Models × machines, with the form that filters them.
Document matrix_part(const Source& source, const TableBlock& overview) {
  if (source.lines.empty()) return {};
  return Document()
      .paragraph(matrix_legend(source.shown))
      .add(Interactive{
          "<form id=\"matrix-form\" hidden><label>Filter by words<input type=\"search\" "
          "id=\"matrix-text\" autocomplete=\"off\"></label><label>Runs somewhere<select "
          "id=\"matrix-fits\"><option value=\"\">any</option><option value=\"0\">on GPUs</option>"
          "<option value=\"2\">at least with offload</option></select></label>"
          "<span role=\"status\" id=\"matrix-count\" class=\"soft\"></span></form>\n"})
      .add(overview);
}

/// "knee at 12 GiB, best 34.5 tokens/s".
std::string knee_words(const Curve& curve) {
  double best = 0;
  for (const CurvePoint& p : curve.points)
    if (p.tokens_s > best) best = p.tokens_s;
  if (best == 0) return "does not run";
  if (!curve.knee)
    return fmt::format("best {} tokens/s, more memory would still help",
                       shown(best, DisplayUnit::plain));
  return fmt::format("knee at {} GiB, best {} tokens/s",
                     shown(curve.points[curve.knee->index].allocation, DisplayUnit::plain),
                     shown(best, DisplayUnit::plain));
}

Document curves_part(const ChosenFigures& chosen) {
  if (chosen.figures.empty()) return {};
  Pictures pictures;
  for (std::size_t f = 0; f < chosen.figures.size(); ++f) {
    const Figure& figure = chosen.figures[f];
    SvgChart chart{fmt::format("c{}", f), figure.title, {}, "GiB on each GPU", "tokens/s", {}};
    for (const Curve& curve : figure.curves) {
      SvgSeries series{curve.label, {}, {}};
      for (const CurvePoint& p : curve.points) series.points.emplace_back(p.allocation, p.tokens_s);
      if (curve.knee) series.marks.push_back(curve.knee->index);
      chart.description += fmt::format("{}{}: {}", chart.description.empty() ? "" : "; ",
                                       curve.label, knee_words(curve));
      chart.series.push_back(std::move(series));
    }
    pictures.pictures.push_back({std::move(chart)});
  }
  Document part;
  part.paragraph(
          "Output tokens per second against what the process may use of each GPU. A ring is the "
          "knee: the smallest allocation that reaches 95 % of the best speed.")
      .add(std::move(pictures));
  if (chosen.left_out > 0) part.paragraph(left_out_words(chosen));
  return part;
}

Document training_part(const Source& source) {
  const auto lines = training_lines(source);
  return lines.empty() ? Document() : training_document(source, lines);
}

Document accuracy_part(const Source& source) {
  Document part = tolerance(source);
  part.add(Paragraph{
      Text("An interval is the spread of published measurements around estimates of the "
           "same machine and model, by engine and term. An engine without measured rows "
           "has estimates without measurements, with an interval wider than any other's. ") +
          code("headroom accuracy") + " shows every row.",
      true});
  return part;
}

}  // namespace

std::string page(const Source& source, const TableBlock& overview, const Diff* diff,
                 const ChosenFigures& figures) {
  const PageSection sections[] = {
      {"Which model runs where", matrix_part(source, overview)},
      {"Changes since the run before", changes_part(diff)},
      {"Training", training_part(source)},
      {"Serving under load", serving_part(source)},
      {"Purchase ranking", purchases_part(source)},
      {"Speed against GPU allocation", curves_part(figures)},
      {"Over the nights", nights_part(source)},
      {"Points", points_part(source)},
      {"Assumptions",
       assumptions(source).add(Details{"Models and their sources", {models_list(source)}})},
      {"Accuracy", accuracy_part(source)}};
  return html_page(source.run.name, "which model runs where", page_summary(source), sections);
}

}  // namespace headroom::report
