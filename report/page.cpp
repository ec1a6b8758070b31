// index.html: what is known of a run on one page. Tables and curves are there without script;
// sorting, filtering and the single points need it.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "hardware/embedded.hpp"
#include "report/advice.hpp"
#include "report/curve.hpp"
#include "report/diff.hpp"
#include "report/format.hpp"
#include "report/page_parts.hpp"
#include "report/svg.hpp"
#include "report/training_points.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_page())
    if (file.name == name) return file.bytes;
  return {};
}

std::string section(std::string_view id, std::string_view heading, const std::string& content) {
  if (content.empty()) return "";
  return fmt::format("<section aria-labelledby=\"{0}\"><h2 id=\"{0}\">{1}</h2>\n{2}</section>\n",
                     id, heading, content);
}

std::string_view grade_class(Grade grade) {
  constexpr std::string_view names[] = {"good", "fair", "fair", "bad", "none"};
  return names[static_cast<std::size_t>(grade)];
}
std::string_view sign(Grade grade) {
  constexpr std::string_view signs[] = {"✓", "◐", "◐", "✗", "–"};
  return signs[static_cast<std::size_t>(grade)];
}

/// What a reader wants first: how many of the shown answers are good.
std::string summary(const Source& source, const std::vector<MachineLines>& machines) {
  std::string list = "<ul>";
  for (const MachineLines& machine : machines) {
    Size on_gpus = 0, offload = 0;
    for (const auto& model : machine.models) {
      const Grade best = grade(wanted(model).roomiest().estimate);
      on_gpus += best == Grade::on_gpus;
      offload += best == Grade::cpu_offload || best == Grade::disk_offload;
    }
    list += fmt::format(
        "<li><strong>{}</strong>: of {} models {} run on its GPUs in the precisions named below, "
        "{} with "
        "offload, {} not at all.</li>",
        html_text(machine.group.empty() ? machine.machine : machine.machine + ", " + machine.group),
        machine.models.size(), on_gpus, offload,
        static_cast<Size>(machine.models.size()) - on_gpus - offload);
  }
  return list + fmt::format(
                    "</ul><p class=\"soft\">Run {} of {}, finished {}, headroom {}, {} "
                    "points.</p>",
                    source.run.id, html_text(source.run.name), source.run.finished,
                    html_text(source.run.version), source.run.points);
}

std::string matrix_cell(const ModelRow& line, const std::vector<const ModelRow*>& here,
                        const std::vector<const ModelRow*>& all) {
  const BudgetPoint& entry = line.roomiest();
  const auto& e = entry.estimate;
  const Grade g = grade(e);
  std::string more = fmt::format("{}, {}", html_text(line.held), gib(e.weights));
  if (e.tokens_s > 0) more += fmt::format(", {} tokens/s", shown(e.tokens_s, DisplayUnit::plain));
  std::string cell = fmt::format(
      "<td data-g=\"{}\" data-v=\"{:.6g}\"><span class=\"{}\">{} {}</span><small>{}</small>",
      static_cast<int>(g), 1e9 * (4 - static_cast<int>(g)) + (e.tokens_s > 0 ? e.tokens_s : 0),
      grade_class(g), sign(g), html_text(verdict_words(line, entry)), more);
  if (const auto words = advice(line, here, all); !words.empty() && g != Grade::refused)
    cell += "<small>→ " + html_text(words) + "</small>";
  return cell + "</td>";
}

/// Models × machines, each in the precision that is asked for.
std::string matrix(const Source& source, const std::vector<MachineLines>& machines) {
  std::vector<std::string> models;
  std::map<std::string, double> parameters;
  std::string head =
      "<th scope=\"col\"><button type=\"button\">Model</button></th><th scope=\"col\" class=\"n\">"
      "<button type=\"button\">Parameters (billions)</button></th>";
  for (const auto& machine : machines) {
    head += fmt::format("<th scope=\"col\"><button type=\"button\">{}</button></th>",
                        html_text(machine.group.empty() ? machine.machine
                                                        : machine.machine + ", " + machine.group));
    for (const auto& model : machine.models) {
      const ModelRow& line = *model.front();
      if (parameters.emplace(line.model, line.parameters).second) models.push_back(line.model);
    }
  }
  std::string rows;
  for (const auto& name : models) {
    const double count = parameters[name];
    rows += fmt::format("<tr><th scope=\"row\">{}</th><td class=\"n\" data-v=\"{}\">{}</td>",
                        html_text(name), count > 0 ? shortest(count) : "",
                        count > 0 ? shown(count, DisplayUnit::billions) : "");
    for (const auto& machine : machines) {
      const auto here = std::ranges::find_if(
          machine.models, [&](const auto& model) { return model.front()->model == name; });
      rows += here == machine.models.end() ? std::string("<td data-v=\"\"></td>")
                                           : matrix_cell(wanted(*here), *here, source.shown);
    }
    rows += "</tr>\n";
  }
  return fmt::format(
      "<p>Each model in its checkpoint's own precision where the run has it, else in the widest: "
      "how it fits, the "
      "size of its weights, its decode speed, and after → what would help. ✓ on GPUs, ◐ only with "
      "offload, ✗ does not fit, – refused. {}</p>"
      "<form id=\"matrix-form\" hidden><label>Filter by words<input type=\"search\" "
      "id=\"matrix-text\" autocomplete=\"off\"></label><label>Runs somewhere<select "
      "id=\"matrix-fits\"><option value=\"\">any</option><option value=\"0\">on GPUs</option>"
      "<option value=\"2\">with offload at the least</option></select></label>"
      "<span role=\"status\" id=\"matrix-count\" class=\"soft\"></span></form>"
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Compatibility matrix\">"
      "<table id=\"matrix\"><thead><tr>{}</tr></thead><tbody>\n{}</tbody></table></div>",
      html_text(speed_classes_explained()), head, rows);
}

std::string curves(const Source& source) {
  constexpr std::size_t most = 60;
  const auto figures = figures_of(source.lines);
  if (figures.empty()) return "";
  std::string all =
      "<p>Output tokens per second against what the process may use of each GPU. A ring is the "
      "knee: the smallest allocation that reaches 95 % of the best speed.</p><div "
      "class=\"figures\">";
  for (std::size_t f = 0; f < std::min(figures.size(), most); ++f) {
    const Figure& figure = figures[f];
    SvgChart chart{fmt::format("c{}", f), figure.title, {}, "GiB on each GPU", "tokens/s", {}};
    std::string words;
    for (const Curve& curve : figure.curves) {
      SvgSeries series{curve.label, {}, {}};
      for (const CurvePoint& p : curve.points) series.points.emplace_back(p.allocation, p.tokens_s);
      if (curve.knee) series.marks.push_back(curve.knee->index);
      double best = 0;
      for (const CurvePoint& p : curve.points)
        if (p.tokens_s > best) best = p.tokens_s;
      words += fmt::format("{}{}: ", words.empty() ? "" : "; ", curve.label);
      words +=
          best == 0 ? std::string("does not run")
          : curve.knee
              ? fmt::format("knee at {} GiB, best {} tokens/s",
                            shown(curve.points[curve.knee->index].allocation, DisplayUnit::plain),
                            shown(best, DisplayUnit::plain))
              : fmt::format("best {} tokens/s, more memory would still help",
                            shown(best, DisplayUnit::plain));
      chart.series.push_back(std::move(series));
    }
    chart.description = words;
    all += fmt::format("<figure>{}<figcaption><strong>{}</strong><br>{}.</figcaption></figure>\n",
                       svg(chart), html_text(figure.title), html_text(words));
  }
  all += "</div>";
  if (figures.size() > most)
    all += fmt::format("<p>{} more are drawn in the folder curves/ beside this page.</p>",
                       figures.size() - most);
  return all;
}

std::string models_list(const Source& source) {
  std::string list = "<h3>Models</h3><ul>";
  for (const ModelOrigin& each : source.axes.info().models)
    list += fmt::format("<li>{}: {}</li>", html_text(each.model), html_text(each.source));
  return list + "</ul>";
}

std::string accuracy(const Source& source) {
  return html_list(tolerance(source)) +
         "<p class=\"soft\">An interval is the spread of published measurements around the "
         "estimates of the same machine and model, by runtime and term; a runtime without measured "
         "rows has a guess, and none of its verdicts is sure. <code>headroom accuracy</code> shows "
         "every row.</p>";
}

}  // namespace

std::string page(const Source& source) {
  const auto machines = by_machine(source.shown);
  const std::vector<std::pair<std::string_view, std::string>> sections = {
      {"Changes since the run before", changes_part(source)},
      {"Which model runs where", source.lines.empty() ? "" : matrix(source, machines)},
      {"What training takes", training_part(training_lines(source), source)},
      {"What requests get", serving_part(source)},
      {"Speed against GPU allocation", curves(source)},
      {"Purchase ranking", purchases_part(source)},
      {"Over the nights", nights_part(source)},
      {"Points", points_part(source)},
      {"Assumptions",
       html_list(axes_words(source.axes.info())) +
           "<p>GPU memory is all that a process uses on a card, as nvidia-smi would show it. This "
           "page shows GiB and milliseconds; results.csv and the database have bytes and "
           "seconds.</p>" +
           models_list(source)},
      {"Accuracy", accuracy(source)}};
  std::string contents, body;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    const auto& [heading, content] = sections[i];
    if (content.empty()) continue;
    contents += fmt::format("<li><a href=\"#s{}\">{}</a></li>", i, heading);
    body += section(fmt::format("s{}", i), heading, content);
  }
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src "
      "'unsafe-inline'; script-src 'unsafe-inline'; img-src data:\">"
      "<link rel=\"icon\" href=\"data:,\"><title>{0}: which model runs where</title>"
      "<style>\n{1}</style></head>\n<body><a class=\"skip\" href=\"#main\">To the content</a>"
      "<header><h1>{0}</h1>{2}<nav aria-label=\"Contents\"><ul>{3}</ul></nav></header>\n"
      "<main id=\"main\">{4}</main>\n<script>\n{5}</script></body></html>\n",
      html_text(source.run.name), embedded("page.css"), summary(source, machines), contents, body,
      embedded("page.js"));
}

}  // namespace headroom::report
