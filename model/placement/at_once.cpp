#include "model/placement/at_once.hpp"

#include "model/speed/serving.hpp"

namespace headroom::model {

namespace {

bool keeps_a_pool(const Scenario& s) {
  return s.runtime->admission != Admission::slots && s.runtime->continuous_batching && s.kv_cache;
}

}  // namespace

std::optional<Scenario> fewer_at_once(const Scenario& s, const Plan& plan, double factor) {
  if (plan.reason != Reason::gpu_memory || s.batch < 2 || !keeps_a_pool(s)) return std::nullopt;
  Scenario fewer = s;
  fewer.tensor_parallel = plan.shards;
  fewer.batch = largest(s.batch - 1, [&](Size batch) {
    fewer.batch = batch;
    return place(fewer, factor).feasible();
  });
  return fewer.batch > 0 ? std::optional(fewer) : std::nullopt;
}

Scenario at_once(const Scenario& s) {
  if (!keeps_a_pool(s)) return s;
  return fewer_at_once(s, place(s, 1.0), 1.0).value_or(s);
}

}  // namespace headroom::model
