// Columns of points with a concurrency: what requests get from an engine under load.
#include <fmt/format.h>

#include <limits>
#include <type_traits>

#include "model/infer/estimate.hpp"
#include "report/column_rows.hpp"
#include "report/interval_terms.hpp"

namespace headroom::report {
namespace {

using model::Estimate;
using model::Served;

std::string stored(std::string_view name) {
  return fmt::format("(SELECT {} FROM serving_outcome WHERE id = o.id)", name);
}

Column column(std::string_view name, std::string_view unit, std::string_view heading, SqlType type,
              OfEstimate origin, std::string sql, std::string_view meaning, DisplayUnit shown) {
  return {name, unit,  heading, meaning,        ColumnKind::outcome,
          type, shown, origin,  std::move(sql), AppliesTo::serving};
}

/// NaN where nothing is served.
template <auto field>
double served_value(const Estimate& e) {
  if (e.served.running == 0) return std::numeric_limits<double>::quiet_NaN();
  if constexpr (std::is_same_v<decltype(e.served.*field), const double&>)
    return e.served.*field;
  else
    return (e.served.*field).value();
}

/// An outcome, empty where nothing is served.
template <auto field>
Column outcome(std::string_view name, std::string_view unit, std::string_view heading,
               std::string_view in_table, std::string_view meaning, DisplayUnit shown) {
  return column(
      name, unit, heading, SqlType::real,
      +[](const Estimate& e) { return finite(served_value<field>(e)); }, stored(in_table), meaning,
      shown);
}

template <auto field>
constexpr StoredValue served(std::string_view in_table) {
  return {in_table, "serving_outcome", served_value<field>};
}
constexpr StoredValue served_ttft = served<&Served::ttft>("ttft_s"),
                      served_tpot = served<&Served::tpot>("tpot_s"),
                      served_total = served<&Served::total>("total_s"),
                      served_requests = served<&Served::requests_s>("requests_s"),
                      served_tokens = served<&Served::output_tokens_s>("output_tokens_s");

}  // namespace

void add_serving_columns(std::vector<Column>& all) {
  using enum DisplayUnit;
  all.push_back(column(
      "serving_running", "", "running", SqlType::integer,
      +[](const Estimate& e) { return e.served.running > 0 ? Cell(e.served.running) : Cell(); },
      stored("running"),
      "sequences that run concurrently under load; the other requests wait. Empty: the engine does "
      "not "
      "batch continuously there, or nothing fits on cards",
      plain));
  all.push_back(outcome<&Served::ttft>("serving_ttft_s", "s", "first token, served", "ttft_s",
                                       "time to first token of the mean request under load",
                                       milliseconds));
  add_interval(all, "serving_ttft_s_low", "serving_ttft_s_high", [](const auto& of, auto end) {
    return of.stored(served_ttft) * rules(of, end).served_first();
  });
  all.push_back(outcome<&Served::tpot>("serving_tpot_s", "s", "per token, served", "tpot_s",
                                       "time per output token of the mean request under load",
                                       milliseconds));
  add_interval(all, "serving_tpot_s_low", "serving_tpot_s_high", [](const auto& of, auto end) {
    return of.stored(served_tpot) * rules(of, end).served_step();
  });
  all.push_back(outcome<&Served::total>(
      "serving_total_s", "s", "request, served", "total_s",
      "the mean request under load, from its arrival to its last token", seconds));
  add_interval(all, "serving_total_s_low", "serving_total_s_high", [](const auto& of, auto end) {
    return of.stored(served_total) * rules(of, end).served_step();
  });
  all.push_back(outcome<&Served::ttft_p95>(
      "serving_ttft_p95_s", "s", "first token, p95 of lengths", "ttft_p95_s",
      "time to first token of a request with a prompt at the 95th percentile", milliseconds));
  all.push_back(outcome<&Served::total_p95>(
      "serving_total_p95_s", "s", "request, p95 of lengths", "total_p95_s",
      "a whole request with prompt and output at their 95th percentiles", seconds));
  all.push_back(outcome<&Served::requests_s>("serving_requests_s", "requests/s", "requests/s",
                                             "requests_s",
                                             "requests completed per second, all replicas", plain));
  add_interval(all, "serving_requests_s_low", "serving_requests_s_high",
               [](const auto& of, auto end) {
                 return of.stored(served_requests) / rules(of, model::opposite(end)).served_rate();
               });
  all.push_back(outcome<&Served::output_tokens_s>(
      "serving_tokens_s", "tokens/s", "tokens/s, served", "output_tokens_s",
      "output tokens per second of all requests together, all replicas", plain));
  add_interval(all, "serving_tokens_s_low", "serving_tokens_s_high", [](const auto& of, auto end) {
    return of.stored(served_tokens) / rules(of, model::opposite(end)).served_rate();
  });
  all.push_back(column(
      "serving_sustained_requests_s", "requests/s", "requests/s, sustained", SqlType::real,
      +[](const Estimate& e) {
        return e.served.sustained_s > 0 ? Cell(e.served.sustained_s) : Cell();
      },
      "(SELECT nullif(sustained_s, 0) FROM serving_outcome WHERE id = o.id)",
      "requests a second that may arrive at random, all replicas, with the limits max_* kept and "
      "the load factor; empty: none may, or no limit was given",
      plain));
}

}  // namespace headroom::report
