#include "model/placement/experts_apart.hpp"

#include "model/placement/placement.hpp"
#include "model/placement/split.hpp"

namespace headroom::model {

ExpertsApart::ExpertsApart(const Scenario& s) {
  const Weights& w = *s.weights;
  const Profile& profile = w.model->profile;
  const bool able = s.runtime->experts_apart && s.runtime->offload == Offload::compute &&
                    card_count(s) > 0 && !s.machine->devices[0].unified_memory;
  if (!able || s.layer_split != nullptr || s.assignment != nullptr ||
      profile.routing.experts == 0 || !w.refusal.empty())
    return;
  for (Size n = 0; n <= profile.end_decoding - profile.first_decoding; ++n) {
    LayerSplit& split = splits_.emplace_back();
    split.gpu_layers = std::ssize(w.layer) + 1;
    if (n > 0) split.on_host = experts_on_host(w, n);
  }
}

Size ExpertsApart::improve(Scenario& scenario, double memory_factor) const {
  if (splits_.empty()) return 0;
  const Estimate own = evaluate(scenario);
  if (own.verdict == Verdict::refused || own.verdict <= Verdict::fits_gpus) return 0;
  const auto apart = [&](Size n) {
    Scenario s = scenario;
    s.layer_split = &splits_[static_cast<std::size_t>(n)];
    return s;
  };
  const auto on_cards = [&](Size n) {
    return place(apart(n), memory_factor).reason != Reason::gpu_memory;
  };
  Size low = 0, high = std::ssize(splits_) - 1;  // not held, held
  if (high == 0 || !on_cards(high)) return 0;
  while (high - low > 1) {
    const Size middle = (low + high) / 2;
    (on_cards(middle) ? high : low) = middle;
  }
  const Scenario best = apart(high);
  const Estimate e = evaluate(best);
  const bool runs = e.verdict < Verdict::does_not_fit;
  if (!runs || (own.verdict < Verdict::does_not_fit && e.tpot >= own.tpot)) return 0;
  scenario = best;
  return high;
}

}  // namespace headroom::model
