// What requests get of engines under load, on the page: a table and a curve for each model on each
// machine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/format.hpp"
#include "report/page_parts.hpp"
#include "report/svg.hpp"
#include "report/words.hpp"

namespace headroom::report {
namespace {

using model::Estimate;
using model::Interval;

/// The best point of an engine at one concurrency: most requests a second.
struct ServedPoint {
  Size point = 0;
  Estimate estimate;
};
/// An engine with weights held in one precision; points by concurrency.
struct ServingEngine {
  std::string runtime, precision;
  std::map<Size, ServedPoint> at;
};
struct ServedModel {
  std::string machine, model;
  std::vector<ServingEngine> engines;
};

double of_gpu(const Estimate& e) {
  return e.served.output_tokens_s / static_cast<double>(std::max<int>(1, e.gpus_used));
}
double of_user(const Estimate& e) { return 1 / e.served.tpot.value(); }

/// In the order of the spec; empty where no grid asks for a concurrency.
std::vector<ServedModel> served_models(const Source& source) {
  const Axes& axes = source.axes;
  std::vector<bool> asks;
  for (std::size_t g = 0; g < axes.info().grids.size(); ++g)
    asks.push_back(number_of(axes.value("concurrency", axes.first_point(g)), 0) > 0);
  std::vector<ServedModel> models;
  if (std::ranges::find(asks, true) == asks.end()) return models;
  std::map<std::pair<std::string, std::string>, std::size_t> model_at;
  std::map<std::tuple<std::size_t, std::string, std::string>, std::size_t> engine_at;
  source.database->for_each(source.run.id, [&](Size point, const Estimate& e) {
    if (!asks[axes.grid_of(point)]) return;
    const auto text = [&](std::string_view column) { return text_of(axes.value(column, point)); };
    const auto [model, first] =
        model_at.try_emplace({text("machine"), text("model")}, models.size());
    if (first) models.push_back({text("machine"), text("model"), {}});
    auto& engines = models[model->second].engines;
    const auto [engine, fresh] =
        engine_at.try_emplace({model->second, text("runtime"), text("precision")}, engines.size());
    if (fresh) engines.push_back({text("runtime"), text("precision"), {}});
    const auto concurrency = static_cast<Size>(number_of(axes.value("concurrency", point), 0));
    auto& at = engines[engine->second].at;
    const auto here = at.find(concurrency);
    if (here == at.end() || e.served.requests_s > here->second.estimate.served.requests_s)
      at[concurrency] = {point, e};
  });
  return models;
}

/// "12.3", with the ends of its interval below.
std::string with_ends(double value, double low, double high, DisplayUnit how) {
  return fmt::format("<td class=\"n\">{}<small>{} to {}</small></td>", shown(value, how),
                     shown(low, how), shown(high, how));
}
std::string time_cell(Seconds time, const Interval& of, DisplayUnit how) {
  return with_ends(time.value(), time.value() * of.low, time.value() * of.high, how);
}
/// Intervals are of times: the longest is the lowest rate.
std::string rate_cell(double rate, const Interval& of) {
  return with_ends(rate, rate / of.high, rate / of.low, DisplayUnit::plain);
}

std::string row(const Source& source, const ServingEngine& engine, Size concurrency,
                const ServedPoint& best) {
  const Estimate& e = best.estimate;
  const model::Served& s = e.served;
  std::string cells =
      fmt::format("<tr><th scope=\"row\">{}</th><td>{}</td><td class=\"n\">{}</td>",
                  html_text(engine.runtime), html_text(engine.precision), concurrency);
  if (s.running == 0) {
    const bool fits = e.verdict < model::Verdict::does_not_fit;
    const std::string why =
        fits ? std::string("no continuous batching of this engine here")
             : fmt::format("{}: {}",
                           e.verdict == model::Verdict::refused ? "refused" : "does not fit",
                           reason_words(e.reason));
    return cells + fmt::format("<td colspan=\"9\">{}</td></tr>\n", html_text(why));
  }
  const model::ServingIntervals f = source.axes.factors(best.point).serving(e);
  cells += fmt::format("<td class=\"n\">{}</td><td class=\"n\">{}</td>", s.running, e.gpus_used);
  cells += time_cell(s.ttft, f.ttft, DisplayUnit::milliseconds) +
           time_cell(s.tpot, f.tpot, DisplayUnit::milliseconds) +
           time_cell(s.total, f.tpot, DisplayUnit::seconds) + rate_cell(s.requests_s, f.rate) +
           rate_cell(s.output_tokens_s, f.rate) + rate_cell(of_gpu(e), f.rate) +
           rate_cell(of_user(e), f.tpot);
  return cells + "</tr>\n";
}

std::string table(const Source& source, const ServedModel& model, std::string_view title) {
  std::string all = fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{0}\"><table><caption>{0}"
      "</caption><thead><tr><th scope=\"col\">engine</th><th scope=\"col\">precision</th>",
      title);
  for (const auto* heading :
       {"concurrency", "at once", "GPUs", "first token (ms)", "per token (ms)", "request (s)",
        "requests/s", "tokens/s", "tokens/s/GPU", "tokens/s/user"})
    all += fmt::format("<th scope=\"col\" class=\"n\">{}</th>", heading);
  all += "</tr></thead><tbody>\n";
  for (const ServingEngine& engine : model.engines)
    for (const auto& [concurrency, best] : engine.at) all += row(source, engine, concurrency, best);
  return all + "</tbody></table></div>";
}

/// Throughput of a card against the speed that a user sees: concurrencies of one engine are a line.
std::string curve(const ServedModel& model, std::size_t number, const std::string& title) {
  SvgChart chart{fmt::format("q{}", number), title, {}, "tokens/s/user", "tokens/s/GPU", {}};
  for (const ServingEngine& engine : model.engines) {
    SvgSeries series{engine.runtime + ", " + engine.precision, {}, {}};
    for (const auto& [concurrency, best] : engine.at)
      if (best.estimate.served.running > 0)
        series.points.emplace_back(of_user(best.estimate), of_gpu(best.estimate));
    if (series.points.size() < 2) continue;
    std::ranges::sort(series.points);
    chart.description += fmt::format("{}{}: {} tokens/s/GPU at {} tokens/s/user",
                                     chart.description.empty() ? "" : "; ", series.label,
                                     shown(series.points.front().second, DisplayUnit::plain),
                                     shown(series.points.front().first, DisplayUnit::plain));
    chart.series.push_back(std::move(series));
  }
  if (chart.series.empty()) return "";
  return fmt::format("<figure>{}<figcaption><strong>{}</strong><br>{}.</figcaption></figure>\n",
                     svg(chart), html_text(title), html_text(chart.description));
}

std::string unmeasured(const Source& source, const std::vector<ServedModel>& models) {
  std::string names;
  std::map<std::string, bool> seen;
  for (const ServedModel& model : models)
    for (const ServingEngine& engine : model.engines) {
      const auto& [point, e] = engine.at.begin()->second;
      if (e.served.running == 0) continue;
      const auto f = source.axes.factors(point).serving(e);
      if (f.ttft.measurements > 0 && f.tpot.measurements > 0) continue;
      const std::string name =
          fmt::format("{} in {} on {}", engine.runtime, engine.precision, model.machine);
      if (seen.emplace(name, true).second) names += (names.empty() ? "" : "; ") + html_text(name);
    }
  return names.empty() ? ""
                       : fmt::format(
                             "<p>Unmeasured under load, with intervals that are guesses: "
                             "{}.</p>",
                             names);
}

}  // namespace

std::string serving_part(const Source& source) {
  constexpr std::size_t most = 40;
  const auto models = served_models(source);
  if (models.empty()) return "";
  std::string tables, curves;
  for (std::size_t i = 0; i < std::min(models.size(), most); ++i) {
    const std::string title = models[i].model + " on " + models[i].machine;
    tables += table(source, models[i], html_text(title));
    curves += curve(models[i], i, title);
  }
  std::string all =
      "<p>Continuous batching in its steady state: so many requests at once, each followed by the "
      "next. Of the points with an engine, a precision and a concurrency the one with most "
      "requests a second; small figures are the ends of the 80 % interval. First token and request "
      "are of the mean request, waiting included where fewer run at once; tokens/s/user is what "
      "one request gets after its first token. results.csv has every point, and requests with "
      "lengths at their 95th percentiles.</p>" +
      unmeasured(source, models);
  if (!curves.empty()) all += "<div class=\"figures\">" + curves + "</div>";
  all += tables;
  if (models.size() > most)
    all += fmt::format("<p>{} more are in results.csv.</p>", models.size() - most);
  return all;
}

}  // namespace headroom::report
