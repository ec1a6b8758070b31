#include "model/infer/timeline/draft_times.hpp"

#include <cmath>

#include "model/infer/placement/draft_memory.hpp"

namespace headroom::model {

double tokens_per_step(const Draft& draft) {
  const double a = draft.acceptance, k = static_cast<double>(draft.tokens);
  return a >= 1 ? k + 1 : (1 - std::pow(a, k + 1)) / (1 - a);
}

double share_kept(const Draft& draft) {
  return (tokens_per_step(draft) - 1) / static_cast<double>(draft.tokens);
}

const Constant& check_cost() {
  static constexpr Constant cost{
      0.08, 0.03, 0.20, 10,
      "sudoingX/qwen38-mtp#15, 18, 42, 43, 62, 68 (llama.cpp: RTX 3090, 4090, 5080, 5090) and 11 "
      "(vLLM: RTX PRO 6000); dnhkng.github.io/posts/gh200-benchmarking-part-2; read 2026-11-25"};
  return cost;
}

namespace {

double all(double a, double b, double c, double sign) {
  return std::exp(sign * std::hypot(std::log(a), std::log(b), std::log(c)));
}

/// A step with `cost` by one with the expected cost.
double longer(const Draft& draft, double cost) {
  const double k = static_cast<double>(draft.tokens);
  return (1 + k * cost) / (1 + k * check_cost().value);
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
    of->low = all(of->low, low, longer(draft, check_cost().low), -1);
    of->high = all(of->high, high, longer(draft, check_cost().high), 1);
  }
  return engine;
}

Size draft_passes(const Draft& draft) {
  return draft.proposer == Proposer::block ? 1 : draft.tokens;
}

DraftTimes draft_times(const Scenario& s, const Plan& plan, TimelineDetail detail) {
  DraftTimes times;
  times.check = check_step(s, plan, mean_tokens(s), s.draft->tokens + 1, detail);
  const double k = static_cast<double>(s.draft->tokens);
  times.further = k * check_cost().value * decode_step(s, plan, mean_tokens(s)).total;
  times.step = times.check.total + times.further;
  if (s.draft->weights == nullptr) return times;
  const Scenario d = of_draft(s, plan.shards);
  const Plan alone = place(d, 1.0);
  times.propose = s.draft->proposer == Proposer::block
                      ? check_step(d, alone, mean_tokens(d), s.draft->tokens + 1, detail)
                      : propose_step(d, alone, s.draft->modules, detail);
  times.prompt = prefill(d, alone, d.prompt_tokens, detail);
  times.step += static_cast<double>(draft_passes(*s.draft)) * times.propose.total;
  return times;
}

}  // namespace headroom::model
