// Serving under load on the page: a table and a curve for each model on each machine.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "report/format.hpp"
#include "report/output_cost.hpp"
#include "report/page_parts.hpp"
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
/// An engine with one precision of weights, and limits on the slowest requests; points by
/// concurrency.
struct ServingEngine {
  std::string runtime, precision, limits;
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

/// "first token 300 ms, per token 40 ms, 50 % busy"; empty: nothing was asked.
std::string limits_at(const Axes& axes, Size point) {
  std::string text;
  const auto add = [&](std::string_view column, std::string_view words, double times,
                       std::string_view unit) {
    const double value = number_of(axes.value(column, point), 0);
    if (value > 0)
      text += fmt::format("{}{}{:.4g}{}", text.empty() ? "" : ", ", words, times * value, unit);
  };
  add("max_ttft_p95_s", "first token ", 1000, " ms");
  add("max_tpot_p95_s", "per token ", 1000, " ms");
  add("max_e2e_p99_s", "request ", 1, " s");
  add("burstiness", "burstiness ", 1, "");
  add("load_factor", "", 100, " % busy");
  return text;
}

/// In the order of the spec; empty where no grid asks for a concurrency.
std::vector<ServedModel> served_models(const Source& source) {
  const Axes& axes = source.axes;
  std::vector<bool> asks;
  for (std::size_t g = 0; g < axes.info().grids.size(); ++g)
    asks.push_back(number_of(axes.value("concurrency", axes.first_point(g)), 0) > 0);
  std::vector<ServedModel> models;
  if (std::ranges::find(asks, true) == asks.end()) return models;
  std::map<std::pair<std::string, std::string>, std::size_t> model_at;
  std::map<std::tuple<std::size_t, std::string, std::string, std::string>, std::size_t> engine_at;
  for_each_of(source, asks, [&](Size point, const Estimate& e) {
    const auto text = [&](std::string_view column) { return text_of(axes.value(column, point)); };
    const auto [model, first] =
        model_at.try_emplace({text("machine"), text("model")}, models.size());
    if (first) models.push_back({text("machine"), text("model"), {}});
    auto& engines = models[model->second].engines;
    const std::string limits = limits_at(axes, point);
    const auto [engine, fresh] = engine_at.try_emplace(
        {model->second, text("runtime"), text("precision"), limits}, engines.size());
    if (fresh) engines.push_back({text("runtime"), text("precision"), limits, {}});
    const auto concurrency = static_cast<Size>(number_of(axes.value("concurrency", point), 0));
    auto& at = engines[engine->second].at;
    const auto here = at.find(concurrency);
    if (here == at.end() || e.served.requests_s > here->second.estimate.served.requests_s)
      at[concurrency] = {point, e};
  });
  return models;
}

/// "12.3", with the ends of its interval below.
TableCell with_ends(double value, double low, double high, DisplayUnit how) {
  TableCell cell(shown(value, how));
  cell.lines.emplace_back(fmt::format("{} to {}", shown(low, how), shown(high, how)));
  return cell;
}
TableCell time_cell(Seconds time, const Interval& of, DisplayUnit how) {
  return with_ends(time.value(), time.value() * of.low, time.value() * of.high, how);
}
/// Intervals are of times: the longest is the lowest rate.
TableCell rate_cell(double rate, const Interval& of) {
  return with_ends(rate, rate / of.high, rate / of.low, DisplayUnit::plain);
}

/// The currency of the run's prices; empty without prices.
std::string currency_of(const Source& source, const ServedModel& model) {
  const Size point = model.engines.front().at.begin()->second.point;
  return text_of(source.axes.value("currency", point));
}

/// Columns that only some tables have.
struct OptionalColumns {
  bool limits = false, cost = false;
};
OptionalColumns optional_columns(const Source& source, const ServedModel& model) {
  return {std::ranges::any_of(model.engines, [](const auto& each) { return !each.limits.empty(); }),
          !currency_of(source, model).empty()};
}

std::vector<TableCell> serving_row(const Source& source, const ServingEngine& engine,
                                   Size concurrency, const ServedPoint& best,
                                   const OptionalColumns& shown_columns) {
  const Estimate& e = best.estimate;
  const model::Served& s = e.served;
  std::vector<TableCell> row = {engine.runtime, engine.precision, std::to_string(concurrency)};
  if (s.running == 0) {
    const bool fits = e.verdict < model::Verdict::does_not_fit;
    const std::string why =
        fits ? std::string("this engine does not batch continuously here")
             : fmt::format("{}: {}",
                           e.verdict == model::Verdict::refused ? "refused" : "does not fit",
                           reason_words(e.reason));
    row.emplace_back(why).span = 9 + (shown_columns.limits ? 2 : 0) + (shown_columns.cost ? 1 : 0);
    return row;
  }
  const model::ServingIntervals f = source.axes.factors(best.point).serving(e);
  row.emplace_back(std::to_string(s.running));
  row.emplace_back(std::to_string(e.gpus_used));
  row.push_back(time_cell(s.ttft, f.ttft, DisplayUnit::milliseconds));
  row.push_back(time_cell(s.tpot, f.tpot, DisplayUnit::milliseconds));
  row.push_back(time_cell(s.total, f.tpot, DisplayUnit::seconds));
  row.push_back(rate_cell(s.requests_s, f.rate));
  row.push_back(rate_cell(s.output_tokens_s, f.rate));
  row.push_back(rate_cell(of_gpu(e), f.rate));
  row.push_back(rate_cell(of_user(e), f.tpot));
  if (shown_columns.limits) {
    row.emplace_back(engine.limits);
    row.emplace_back(s.sustained_s > 0 ? shown(s.sustained_s, DisplayUnit::plain) : "none");
  }
  if (!shown_columns.cost) return row;
  const auto cost = served_output_cost(source.axes, best.point, e);
  row.push_back(cost ? with_ends(*cost, *cost * f.rate.low, *cost * f.rate.high, DisplayUnit::plain)
                     : TableCell());
  return row;
}

TableBlock serving_table(const Source& source, const ServedModel& model, std::string caption) {
  using enum TableColumn::Kind;
  TableBlock table{{{"engine", row_name},
                    {"precision"},
                    {"concurrency", number},
                    {"running", number},
                    {"GPUs", number},
                    {"first token (ms)", number},
                    {"per token (ms)", number},
                    {"request (s)", number},
                    {"requests/s", number},
                    {"tokens/s", number},
                    {"tokens/s/GPU", number},
                    {"tokens/s/user", number}},
                   {},
                   std::move(caption),
                   3};
  const OptionalColumns more = optional_columns(source, model);
  if (more.limits) {
    table.columns.push_back({"limits of the slowest"});
    table.columns.push_back({"requests/s at random", number});
  }
  if (more.cost)
    table.columns.push_back(
        {fmt::format("a million out ({})", currency_of(source, model)), number});
  for (const ServingEngine& engine : model.engines)
    for (const auto& [concurrency, best] : engine.at)
      table.rows.push_back(serving_row(source, engine, concurrency, best, more));
  return table;
}

/// Throughput of a card against the speed that a user sees: concurrencies of one engine are a line.
/// Adds nothing where no engine has two.
void add_serving_curve(Pictures& pictures, const ServedModel& model, std::size_t number,
                       const std::string& title) {
  SvgChart chart{fmt::format("q{}", number), title, {}, "tokens/s/user", "tokens/s/GPU", {}};
  for (const ServingEngine& engine : model.engines) {
    SvgSeries series{engine.runtime + ", " + engine.precision, {}, {}};
    // Limits do not change what a number of requests gets.
    if (std::ranges::find(chart.series, series.label, &SvgSeries::label) != chart.series.end())
      continue;
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
  if (!chart.series.empty()) pictures.pictures.push_back({std::move(chart)});
}

/// Engines without a measured row under load.
std::vector<std::string> unmeasured_engines(const Source& source,
                                            const std::vector<ServedModel>& models) {
  std::vector<std::string> names;
  for (const ServedModel& model : models)
    for (const ServingEngine& engine : model.engines) {
      const auto& [point, e] = engine.at.begin()->second;
      if (e.served.running == 0) continue;
      const auto f = source.axes.factors(point).serving(e);
      if (f.ttft.measurements > 0 && f.tpot.measurements > 0) continue;
      std::string name =
          fmt::format("{} in {} on {}", engine.runtime, engine.precision, model.machine);
      if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
    }
  return names;
}

constexpr std::string_view explained =
    "Continuous batching in its steady state: a new request follows each finished one. For each "
    "engine, precision and concurrency, the table shows the point with most requests per second. "
    "Small figures are the ends of the 80 % interval. First token and request are those of the "
    "mean request, with waiting if fewer run concurrently. "
    "Tokens/s/user is the speed of one request after its first token. {} has every point, "
    "and requests with lengths at their 95th percentiles.";
constexpr std::string_view limits_explained =
    "Requests/s at random is the rate of arrivals at which the slowest requests keep their limits: "
    "95 % of them those of tokens, 99 % that of the whole request.";
constexpr std::string_view cost_explained =
    "A million output tokens cost what an hour of the machine does, in the cheapest way to have "
    "it, "
    "at this load. One of them costs as much as four of the prompt.";

}  // namespace

Document serving_part(const Source& source) {
  constexpr std::size_t most = 40;
  const auto models = served_models(source);
  if (models.empty()) return {};
  Document part;
  part.paragraph(fmt::format(explained, source.every_point));
  const auto any = [&](bool OptionalColumns::*column) {
    return std::ranges::any_of(
        models, [&](const ServedModel& each) { return optional_columns(source, each).*column; });
  };
  if (any(&OptionalColumns::limits)) part.paragraph(limits_explained);
  if (any(&OptionalColumns::cost)) part.paragraph(cost_explained);
  if (const auto names = unmeasured_engines(source, models); !names.empty())
    part.paragraph(fmt::format(
        "Not measured under load, so their intervals are estimates without measurements: {}.",
        fmt::join(names, "; ")));
  Pictures pictures;
  std::vector<TableBlock> tables;
  for (std::size_t i = 0; i < std::min(models.size(), most); ++i) {
    const std::string title = models[i].model + " on " + models[i].machine;
    tables.push_back(serving_table(source, models[i], title));
    add_serving_curve(pictures, models[i], i, title);
  }
  if (!pictures.pictures.empty()) part.add(std::move(pictures));
  for (TableBlock& table : tables) part.add(std::move(table));
  if (models.size() > most)
    part.paragraph(fmt::format("{} more are in {}.", models.size() - most, source.every_point));
  return part;
}

}  // namespace headroom::report
