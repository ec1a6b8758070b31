#include "model/infer/service.hpp"

#include <algorithm>

#include "model/infer/demand.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/traffic.hpp"

namespace headroom::model {
bool batches_continuously(const Scenario& s, const Estimate& e) {
  return s.runtime->serving.continuous_batching && s.weights->model->writes() && s.kv_cache &&
         s.draft == nullptr && e.verdict != Verdict::refused && e.gpus_used > 0;
}

Served served(const Scenario& s, const Estimate& e, Block& block, const Plan* fitted) {
  if (!batches_continuously(s, e)) return {};
  const Traffic t = traffic(s, lengths_of(s.prompt_tokens, s.prompt_tokens_p95),
                            lengths_of(s.output_tokens, s.output_tokens_p95), block, fitted);
  const auto replicas = static_cast<double>(std::max<Size>(1, s.data_parallel));
  const double sustained = t.running > 0 && s.asks_for_arrivals()
                               ? replicas * sustained_requests(s, t.running, t.requests_s)
                               : 0;
  return {t.running,
          t.ttft,
          t.tpot,
          t.total,
          t.at_p95.ttft,
          t.at_p95.total,
          t.requests_s * replicas,
          t.output_tokens_s * replicas,
          sustained};
}

Service of_one_batch(const Scenario& s, const Estimate& e) {
  const auto running = static_cast<double>(s.batch - e.queued);
  return {e.ttft, e.tpot, e.total, running / e.total.value(), e.ttft / e.total, {}, {}, {}};
}

namespace {

/// One batch with the intervals of its passes.
Service one_batch_of(const Scenario& s, const Estimate& e) {
  Service one = of_one_batch(s, e);
  const ServingIntervals of = interval_factors(s).serving(e, 1);
  one.first = of.ttft;
  one.step = of.tpot;
  one.time = of.rate;
  return one;
}

}  // namespace

Service service_of(const Scenario& s, const Estimate& e) {
  if (s.batch == 1 || !batches_continuously(s, e)) return one_batch_of(s, e);
  const Traffic t = traffic(s);
  if (t.running == 0) return one_batch_of(s, e);
  const ServingIntervals of = interval_factors(s).serving(e, t.running);
  return {t.ttft, t.tpot, t.total, t.requests_s, t.prompt_share, of.ttft, of.tpot, of.rate};
}

}  // namespace headroom::model
