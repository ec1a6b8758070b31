#include "model/answer/placement/expert_offload.hpp"

#include "model/infer/placement/placement.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

ExpertOffload::ExpertOffload(const QuantisedModel& w) {
  const Profile& profile = w.model->profile;
  if (profile.routing.experts == 0 || !w.refusal.empty()) return;
  for (Size n = 0; n <= profile.end_decoding - profile.first_decoding; ++n) {
    LayerSplit& split = splits_.emplace_back();
    split.gpu_layers = std::ssize(w.layer) + 1;
    if (n > 0) split.on_host = experts_on_host(w, n);
  }
}

bool ExpertOffload::applies_to(const Scenario& s) const {
  return splits_.size() > 1 && s.runtime->offload.offloads_experts &&
         s.runtime->offload.mode == Offload::compute && card_count(s) > 0 &&
         !s.machine->devices[0].unified_memory && s.layer_split == nullptr &&
         s.assignment == nullptr;
}

ExpertOffload::Improved ExpertOffload::improve(Scenario& scenario, Evaluator& evaluate,
                                               double memory_factor) const {
  if (!applies_to(scenario)) return {0, evaluate(scenario)};
  const Size all = std::ssize(splits_) - 1;
  const auto apart = [&](Size n) {
    Scenario s = scenario;
    s.layer_split = &splits_[static_cast<std::size_t>(n)];
    return s;
  };
  if (scenario.runtime->offload.experts_on_cpu_by_default) {
    scenario = apart(all);
    return {all, evaluate(scenario)};
  }
  const Estimate own = evaluate(scenario);
  if (own.verdict == Verdict::refused || own.verdict <= Verdict::fits_gpus) return {0, own};
  const auto on_cards = [&](Size n) {
    return place(apart(n), memory_factor).reason != Reason::gpu_memory;
  };
  Size low = 0, high = all;  // not held, held
  if (!on_cards(high)) return {0, own};
  while (high - low > 1) {
    const Size middle = (low + high) / 2;
    (on_cards(middle) ? high : low) = middle;
  }
  const Scenario best = apart(high);
  const Estimate e = evaluate(best);
  const bool runs = e.verdict < Verdict::does_not_fit;
  if (!runs || (own.verdict < Verdict::does_not_fit && e.tpot >= own.tpot)) return {0, own};
  scenario = best;
  return {high, e};
}

}  // namespace headroom::model
