#include "model/infer/timeline/draft_times.hpp"

#include <cmath>

#include "model/infer/placement/draft_memory.hpp"

namespace headroom::model {

double tokens_per_step(const Draft& draft) {
  const double a = draft.acceptance, k = static_cast<double>(draft.tokens);
  return a >= 1 ? k + 1 : (1 - std::pow(a, k + 1)) / (1 - a);
}

namespace {

double both(double a, double b, double sign) {
  return std::exp(sign * std::hypot(std::log(a), std::log(b)));
}

}  // namespace

Engine with_acceptance(Engine engine, const Draft& draft, const Acceptance& acceptance) {
  const auto tokens = [&](double kept) {
    Draft at = draft;
    at.acceptance = kept;
    return tokens_per_step(at);
  };
  const double low = tokens(acceptance.expected) / tokens(acceptance.high);
  const double high = tokens(acceptance.expected) / tokens(acceptance.low);
  for (Constant* of : {&engine.kernels.decode_interval, &engine.offload.interval,
                       &engine.offload.ram_stated_interval}) {
    if (of->value <= 0) continue;  // none is known
    of->low = both(of->low, low, -1);
    of->high = both(of->high, high, 1);
  }
  return engine;
}

DraftTimes draft_times(const Scenario& s, const Plan& plan, TimelineDetail detail) {
  DraftTimes times;
  times.check = check_step(s, plan, mean_tokens(s), s.draft->tokens + 1, detail);
  times.step = times.check.total;
  if (s.draft->weights == nullptr) return times;
  const Scenario d = of_draft(s, plan.shards);
  const Plan alone = place(d, 1.0);
  times.propose = propose_step(d, alone, s.draft->modules, detail);
  times.prompt = prefill(d, alone, d.prompt_tokens, detail);
  times.step = static_cast<double>(s.draft->tokens) * times.propose.total + times.check.total;
  return times;
}

}  // namespace headroom::model
