// Columns of points that ask for a concurrency: what requests get of an engine under load.
#include <fmt/format.h>

#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "report/column_rows.hpp"

namespace headroom::report {
namespace {

using model::Estimate;
using model::Interval;
using model::IntervalFactors;
using model::Served;
using model::ServingIntervals;

std::string stored(std::string_view name) {
  return fmt::format("(SELECT {} FROM serving_outcome WHERE id = o.id)", name);
}

Column column(std::string_view name, std::string_view unit, std::string_view heading, SqlType type,
              ColumnKind kind, Origin origin, std::string sql, std::string_view meaning,
              DisplayUnit shown) {
  return {name, unit,  heading, meaning,        kind,
          type, shown, origin,  std::move(sql), AppliesTo::serving};
}

/// An outcome, empty where nothing is served.
template <auto field>
Column outcome(std::string_view name, std::string_view unit, std::string_view heading,
               std::string_view in_table, std::string_view meaning, DisplayUnit shown) {
  return column(
      name, unit, heading, SqlType::real, ColumnKind::outcome,
      +[](const Estimate& e) {
        if (e.served.running == 0) return Cell();
        if constexpr (std::is_same_v<decltype(e.served.*field), const double&>)
          return finite(e.served.*field);
        else
          return finite((e.served.*field).value());
      },
      stored(in_table), meaning, shown);
}

/// As IntervalFactors::serving has them, in SQL: under load, and of one request alone no narrower
/// than `alone`.
std::string served_factor(const std::string& loaded, const std::string& alone,
                          std::string_view end) {
  return fmt::format("CASE WHEN {} = 1 THEN {}({}, {}) ELSE {} END", stored("running"),
                     end == "low" ? "min" : "max", loaded, alone, loaded);
}
std::string served_first(std::string_view end) {
  return served_factor(
      wider_factor("serving_ttft", either_unmeasured, model::unmeasured_first, end),
      first_factor(end), end);
}
std::string served_step(std::string_view end) {
  return served_factor(wider_factor("serving_tpot", step_unmeasured, model::unmeasured_step, end),
                       step_factor(end), end);
}
std::string served_rate(std::string_view end) {
  return served_factor(
      wider_factor("serving_rate", either_unmeasured, model::unmeasured_first, end),
      step_factor(end), end);
}

/// Ends of a time's interval: the time times the factor of that end.
template <Seconds Served::*field, Interval ServingIntervals::*of, class F>
void add_time_ends(std::vector<Column>& all, std::string_view low, std::string_view high,
                   std::string_view in_table, F&& factor) {
  const auto end = [&](std::string_view name, OfFactors get, std::string_view which,
                       std::string_view meaning) {
    all.push_back(column(name, "s", name, SqlType::real, ColumnKind::derived, get,
                         fmt::format("{} * {}", stored(in_table), factor(which)), meaning,
                         all.back().shown));
  };
  end(
      low,
      +[](const Estimate& e, const IntervalFactors& f) {
        return e.served.running > 0 ? finite((e.served.*field).value() * (f.serving(e).*of).low)
                                    : Cell();
      },
      "low", "low end of the interval around the column before");
  end(
      high,
      +[](const Estimate& e, const IntervalFactors& f) {
        return e.served.running > 0 ? finite((e.served.*field).value() * (f.serving(e).*of).high)
                                    : Cell();
      },
      "high", "high end of the same interval");
}

/// The same of a rate: intervals are of times, and the longest is the lowest rate.
template <double Served::*field>
void add_rate_ends(std::vector<Column>& all, std::string_view low, std::string_view high,
                   std::string_view in_table) {
  const std::string_view unit = all.back().unit;
  const auto end = [&](std::string_view name, OfFactors get, std::string_view which,
                       std::string_view meaning) {
    all.push_back(column(name, unit, name, SqlType::real, ColumnKind::derived, get,
                         fmt::format("{} / {}", stored(in_table), served_rate(which)), meaning,
                         DisplayUnit::plain));
  };
  end(
      low,
      +[](const Estimate& e, const IntervalFactors& f) {
        return e.served.running > 0 ? finite(e.served.*field / f.serving(e).rate.high) : Cell();
      },
      "high", "low end of the interval around the column before");
  end(
      high,
      +[](const Estimate& e, const IntervalFactors& f) {
        return e.served.running > 0 ? finite(e.served.*field / f.serving(e).rate.low) : Cell();
      },
      "low", "high end of the same interval");
}

}  // namespace

void add_serving_columns(std::vector<Column>& all) {
  using enum DisplayUnit;
  all.push_back(column(
      "serving_running", "", "running", SqlType::integer, ColumnKind::outcome,
      +[](const Estimate& e) { return e.served.running > 0 ? Cell(e.served.running) : Cell(); },
      stored("running"),
      "sequences that run at once under load; the others of the concurrency wait. Empty: the "
      "engine does not batch continuously there, or nothing fits on cards",
      plain));
  all.push_back(outcome<&Served::ttft>("serving_ttft_s", "s", "first token, served", "ttft_s",
                                       "time to first token of the mean request under load",
                                       milliseconds));
  add_time_ends<&Served::ttft, &ServingIntervals::ttft>(
      all, "serving_ttft_s_low", "serving_ttft_s_high", "ttft_s", served_first);
  all.push_back(outcome<&Served::tpot>("serving_tpot_s", "s", "per token, served", "tpot_s",
                                       "time per output token of the mean request under load",
                                       milliseconds));
  add_time_ends<&Served::tpot, &ServingIntervals::tpot>(
      all, "serving_tpot_s_low", "serving_tpot_s_high", "tpot_s", served_step);
  all.push_back(outcome<&Served::total>(
      "serving_total_s", "s", "request, served", "total_s",
      "the mean request under load, from its arrival to its last token", seconds));
  add_time_ends<&Served::total, &ServingIntervals::tpot>(
      all, "serving_total_s_low", "serving_total_s_high", "total_s", served_step);
  all.push_back(outcome<&Served::ttft_p95>(
      "serving_ttft_p95_s", "s", "first token, p95 of lengths", "ttft_p95_s",
      "time to first token of a request with a prompt at the 95th percentile", milliseconds));
  all.push_back(outcome<&Served::total_p95>(
      "serving_total_p95_s", "s", "request, p95 of lengths", "total_p95_s",
      "a whole request with prompt and output at their 95th percentiles", seconds));
  all.push_back(outcome<&Served::requests_s>("serving_requests_s", "requests/s", "requests/s",
                                             "requests_s",
                                             "requests that end in a second, all replicas", plain));
  add_rate_ends<&Served::requests_s>(all, "serving_requests_s_low", "serving_requests_s_high",
                                     "requests_s");
  all.push_back(outcome<&Served::output_tokens_s>(
      "serving_tokens_s", "tokens/s", "tokens/s, served", "output_tokens_s",
      "output tokens per second of all requests together, all replicas", plain));
  add_rate_ends<&Served::output_tokens_s>(all, "serving_tokens_s_low", "serving_tokens_s_high",
                                          "output_tokens_s");
}

}  // namespace headroom::report
