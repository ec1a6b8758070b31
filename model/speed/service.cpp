#include "model/speed/service.hpp"

#include <algorithm>

#include "model/speed/traffic.hpp"

namespace headroom::model {
namespace {

Interval interval(const Constant& c) { return {c.low, c.high, c.measurements}; }

}  // namespace

bool batches_continuously(const Scenario& s, const Estimate& e) {
  return s.runtime->continuous_batching && s.weights->model->profile.generative && s.kv_cache &&
         s.draft == nullptr && e.verdict != Verdict::refused && e.gpus_used > 0;
}

Service of_one_batch(const Scenario& s, const Estimate& e) {
  return {e.ttft,           e.tpot, e.total, static_cast<double>(s.batch) / e.total.value(),
          e.ttft / e.total, {},     {},      {}};
}

Service service_of(const Scenario& s, const Estimate& e) {
  if (batches_continuously(s, e)) {
    const Runtime& r = *s.runtime;
    if (const Traffic t = traffic(s); t.running > 0)
      return {t.ttft,
              t.tpot,
              t.total,
              t.requests_s,
              t.prompt_share,
              interval(r.first_token_interval),
              interval(r.serving_interval),
              interval(r.throughput_interval)};
  }
  Service one = of_one_batch(s, e);
  const TimeIntervals times = interval_factors(*s.runtime).times(e.verdict);
  one.first = times.ttft;
  one.step = times.tpot;
  const auto of_total = [&](double ttft, double tpot) { return total_at(e, ttft, tpot) / e.total; };
  one.time = {of_total(times.ttft.low, times.tpot.low), of_total(times.ttft.high, times.tpot.high),
              std::min(times.ttft.measurements, times.tpot.measurements)};
  return one;
}

}  // namespace headroom::model
