#include "model/infer/timeline/draft_times.hpp"

#include <cmath>

#include "model/infer/placement/draft_memory.hpp"

namespace headroom::model {

double tokens_per_step(const Draft& draft) {
  const double a = draft.acceptance, k = static_cast<double>(draft.tokens);
  return a >= 1 ? k + 1 : (1 - std::pow(a, k + 1)) / (1 - a);
}

DraftTimes draft_times(const Scenario& s, const Plan& plan, TimelineDetail detail) {
  const Scenario d = of_draft(s, plan.shards);
  const Plan alone = place(d, 1.0);
  DraftTimes times;
  times.propose = decode_step(d, alone, mean_tokens(d), detail);
  times.check = check_step(s, plan, mean_tokens(s), s.draft->tokens + 1, detail);
  times.prompt = prefill(d, alone, d.prompt_tokens, detail);
  times.step = static_cast<double>(s.draft->tokens) * times.propose.total + times.check.total;
  return times;
}

}  // namespace headroom::model
