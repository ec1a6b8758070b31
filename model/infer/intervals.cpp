#include "model/infer/intervals.hpp"

namespace headroom::model {

IntervalFactors interval_factors(const Engine& r, bool ram_stated) {
  const bool known = ram_stated && r.ram_stated_interval.value > 0;
  return {Interval(r.memory_interval),
          Interval(r.load_interval),
          Interval(r.prefill_interval),
          Interval(r.decode_interval),
          Interval(known ? r.ram_stated_interval : r.offload_interval),
          Interval(r.first_token_interval),
          Interval(r.serving_interval),
          Interval(r.throughput_interval),
          r.decode_interval.source};
}
IntervalFactors interval_factors(const Scenario& s) {
  return interval_factors(*s.runtime, !s.machine->ram_assumed);
}

Seconds total_at(const Estimate& e, double ttft, double tpot) {
  return ttft * e.ttft + tpot * (e.total - e.ttft);
}

}  // namespace headroom::model
