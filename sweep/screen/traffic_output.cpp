#include "sweep/screen/traffic_output.hpp"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <vector>

#include "hardware/quantity_text.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/service.hpp"
#include "sweep/options/target_options.hpp"
#include "sweep/output.hpp"
#include "sweep/screen/speed_output.hpp"

namespace headroom::sweep {
namespace {

model::Lengths lengths_of(const Options& options, std::string_view flag, Size median) {
  return model::lengths_of(median, percentile_of(options, flag, median));
}

double cards(const model::Estimate& e) { return static_cast<double>(e.gpus_used); }
double replicas(const model::Scenario& s) {
  return static_cast<double>(std::max<Size>(1, s.data_parallel));
}

}  // namespace

std::optional<model::Traffic> traffic_of(const Options& options, const model::Scenario& s,
                                         const model::Estimate& e) {
  const model::Lengths prompts = lengths_of(options, "prompt-tokens", s.prompt_tokens);
  const model::Lengths outputs = lengths_of(options, "output-tokens", s.output_tokens);
  const bool spread = prompts.p95 > prompts.p50 || outputs.p95 > outputs.p50;
  if (!model::batches_continuously(s, e)) {
    if (spread)
      throw UsageError(
          "--prompt-tokens-p95 and --output-tokens-p95 have no effect here: they describe requests "
          "to an engine on GPUs that batches continuously (vllm, sglang, tensorrt-llm, llama.cpp), "
          "with a KV cache and without a draft model");
    return std::nullopt;
  }
  const model::Traffic traffic = model::traffic(s, prompts, outputs);
  return traffic.running > 0 ? std::optional(traffic) : std::nullopt;
}

bool has_spread(const model::Traffic& t) {
  return t.at_p95.total != t.at_p50.total || t.at_p95.ttft != t.at_p50.ttft;
}

std::string traffic_lines(const model::Traffic& t, const model::Scenario& s,
                          const model::Estimate& e, TrafficRows shown) {
  const model::ServingIntervals of = model::interval_factors(s).serving(e, t.running);
  std::vector<std::vector<std::string>> rows;
  const auto time = [&](std::string name, Seconds value, const model::Interval& interval) {
    rows.push_back({std::move(name), duration(value.value()),
                    duration(value.value() * interval.low), duration(value.value() * interval.high),
                    measured_words(interval)});
  };
  // Intervals are of times: the longest is the lowest rate.
  const auto rate = [&](std::string name, double value, const model::Interval& interval) {
    rows.push_back({std::move(name), three_digits(value), three_digits(value / interval.high),
                    three_digits(value / interval.low), measured_words(interval)});
  };
  time("time to first token", t.ttft, of.ttft);
  const bool spread = has_spread(t);
  if (spread) time("… of a median prompt", t.at_p50.ttft, of.ttft);
  if (spread) time("… of a prompt at p95", t.at_p95.ttft, of.ttft);
  time("time per output token", t.tpot, of.tpot);
  time("whole request", t.total, of.tpot);
  if (spread) time("… of median lengths", t.at_p50.total, of.tpot);
  if (spread) time("… of lengths at p95", t.at_p95.total, of.tpot);
  rate("requests/s", t.requests_s * replicas(s), of.rate);
  rate("output tokens/s", t.output_tokens_s * replicas(s), of.rate);
  if (shown == TrafficRows::all) {
    rate("output tokens/s/GPU", t.output_tokens_s * replicas(s) / cards(e), of.rate);
    rate("output tokens/s/user", 1 / t.tpot.value(), of.tpot);
  }
  return aligned(
      {fmt::format(
           "under load, {}{}, {} running",
           counted(s.batch, s.data_parallel > 1 ? "request" : "concurrent request"),
           replicas(s) > 1 ? fmt::format(" on each of {} replicas", replicas(s)) : std::string(),
           t.running),
       "expected", "low", "high", "measured"},
      {false, true, true, true, false}, rows);
}

std::string traffic_rate(const model::Traffic& t, const model::Scenario& s,
                         const model::Estimate& e) {
  const model::Interval& of = model::interval_factors(s).serving(e, t.running).rate;
  const double value = t.output_tokens_s * replicas(s);
  // The others wait for room, which their time to first token has.
  const std::string running =
      t.running < s.batch ? fmt::format(", of which {} run", grouped(t.running)) : "";
  return fmt::format("{} output tokens/s ({} to {}) for {} at once{}", three_digits(value),
                     three_digits(value / of.high), three_digits(value / of.low), grouped(s.batch),
                     running);
}

boost::json::object traffic_object(const model::Traffic& t, const model::Scenario& s,
                                   const model::Estimate& e) {
  const model::ServingIntervals of = model::interval_factors(s).serving(e, t.running);
  boost::json::object all{{"concurrency", s.batch}, {"running", t.running}};
  const auto add = [](boost::json::object& to, const std::string& name, double value, double low,
                      double high) {
    to[name] = value;
    to[name + "_low"] = low;
    to[name + "_high"] = high;
  };
  const auto time = [&](boost::json::object& to, const std::string& name, Seconds value,
                        const model::Interval& interval) {
    add(to, name, value.value(), value.value() * interval.low, value.value() * interval.high);
  };
  // Intervals are of times: the longest is the lowest rate.
  const auto rate = [&](const std::string& name, double value, const model::Interval& interval) {
    add(all, name, value, value / interval.high, value / interval.low);
  };
  const auto times = [&](const model::RequestTimes& at) {
    boost::json::object both;
    time(both, "ttft_s", at.ttft, of.ttft);
    time(both, "total_s", at.total, of.tpot);
    return both;
  };
  time(all, "ttft_s", t.ttft, of.ttft);
  time(all, "tpot_s", t.tpot, of.tpot);
  time(all, "total_s", t.total, of.tpot);
  all["p50"] = times(t.at_p50);
  all["p95"] = times(t.at_p95);
  all["cached_tokens"] = t.cached_tokens;
  rate("requests_s", t.requests_s * replicas(s), of.rate);
  rate("output_tokens_s", t.output_tokens_s * replicas(s), of.rate);
  rate("output_tokens_s_gpu", t.output_tokens_s * replicas(s) / cards(e), of.rate);
  rate("output_tokens_s_user", 1 / t.tpot.value(), of.tpot);
  all["measurements"] = boost::json::object{{"ttft", of.ttft.measurements},
                                            {"tpot", of.tpot.measurements},
                                            {"requests", of.rate.measurements}};
  return all;
}

}  // namespace headroom::sweep
