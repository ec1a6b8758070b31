#include "model/training/advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>
#include <tuple>
#include <utility>

#include "model/training/outcome.hpp"
#include "model/training/shape.hpp"
#include "model/training/time.hpp"

namespace headroom::model {
namespace {

/// The peak, or more than any card has where the step cannot be.
Bytes peak_of(TrainingEvaluator& evaluate, const TrainingScenario& s) {
  try {
    return evaluate(s).peak;
  } catch (const std::invalid_argument&) {
    return all_of_it;
  }
}

/// The largest n up to `limit` for which `fits(n)`, which holds up to some n; 0: for none.
Size largest(Size limit, const std::function<bool(Size)>& fits) {
  if (!fits(1)) return 0;
  Size yes = 1, no = 2;
  while (no < limit && fits(no)) yes = no, no *= 2;
  while (no - yes > 1) {
    const Size middle = yes + (no - yes) / 2;
    (fits(middle) ? yes : no) = middle;
  }
  return yes;
}

}  // namespace

Size largest_batch(TrainingScenario s, Bytes card) {
  TrainingEvaluator evaluate;
  return largest(Size{1} << 20, [&](Size n) {
    s.batch = n;
    return peak_of(evaluate, s) <= card;
  });
}

Size longest_sequence(TrainingScenario s, Bytes card) {
  TrainingEvaluator evaluate;
  const Size step = 64 * s.parallel.context;
  return step * largest(Size{1} << 20, [&](Size n) {
           s.sequence = n * step;
           return peak_of(evaluate, s) <= card;
         });
}

Size fewest_replicas(TrainingScenario s, Bytes card) {
  TrainingEvaluator evaluate;
  s.zero = 3;
  for (Size n = 2; n <= 4096; n *= 2) {
    s.parallel.replicas = n;
    if (peak_of(evaluate, s) <= card) return n;
  }
  return 0;
}

std::vector<Change> changes_that_save(const TrainingScenario& s, const Machine& machine) {
  const Bytes card = smallest_card(machine);
  TrainingEvaluator evaluate;
  /// Memory of a step, and the seconds that a token takes.
  const auto cost_of = [&](const TrainingScenario& step) {
    const TrainingEstimate e = evaluate(step);
    const StepTime time = time_of_step(step, evaluate.shape(), e, machine,
                                       training_pace(step.runtime->name, machine.devices.front()));
    return std::tuple{e.peak, e.host, 1 / time.tokens_s};
  };
  const auto [now, host_now, time_now] = cost_of(s);
  std::vector<Change> all;
  const auto with = [&](std::string flags, std::string effect, auto&& change) {
    TrainingScenario changed = s;
    change(changed);
    try {
      const auto [peak, host, time] = cost_of(changed);
      if (peak < now)
        all.push_back({std::move(flags), std::move(effect), peak, now - peak, host, time / time_now,
                       peak <= card});
    } catch (const std::invalid_argument&) {
      // The change does not go with the rest.
    }
  };
  if (s.fused_attention == false)
    with("--attention flash", "", [](auto& c) { c.fused_attention = true; });
  if (!s.fused_loss) with("--fused-loss", "logits in chunks", [](auto& c) { c.fused_loss = true; });
  if (!s.fused_kernels)
    with("--liger", "kernels of another package",
         [](auto& c) { c.fused_kernels = c.fused_loss = true; });
  if (s.batch > 1)
    with(fmt::format("--batch 1 --grad-accum {}", s.accumulated * s.batch),
         "the same step in smaller passes", [](auto& c) {
           c.accumulated *= c.batch;
           c.batch = 1;
         });
  if (s.adapter == nullptr && s.optimizer->name() == "adamw")
    with("--optimizer adamw-8bit", "states in 8 bit",
         [](auto& c) { c.optimizer = &optimizer("adamw-8bit"); });
  if (s.adapter == nullptr && s.recipe->name != "pure-16bit")
    with("--recipe pure-16bit", "small updates are lost to rounding",
         [](auto& c) { c.recipe = &recipe("pure-16bit"); });
  if (s.parallel.alike() > 1 && s.zero < 3)
    with("--zero 3", "weights go between cards", [](auto& c) { c.zero = 3; });
  if (s.recomputation != Recomputation::full)
    with("--checkpointing full", "forward twice",
         [](auto& c) { c.recomputation = Recomputation::full; });
  if (!s.optimizer_on_host && (s.zero > 0 || s.adapter == nullptr))
    with("--offload-optimizer cpu", "the step runs on the CPU",
         [](auto& c) { c.optimizer_on_host = true; });
  with(fmt::format("--seq {}", s.sequence / 2), "shorter texts",
       [](auto& c) { c.sequence = std::max<Size>(1, c.sequence / 2); });
  Adapter adapter;
  Weights base;
  if (s.adapter == nullptr) {
    const std::string flags = "--lora-rank 16 --lora-targets all-linear";
    try {
      adapter = adapt(*s.model, {.rank = 16, .targets = {"all-linear"}});
      const auto adapters = [&](TrainingScenario& c) {
        c.adapter = &adapter;
        c.recipe = &usual_recipe(*c.runtime, c.zero, true);
      };
      with("--lora " + flags, "adapters alone are trained", adapters);
      base = hold(*s.model, scheme("nf4"));
      if (base.refusal.empty())
        with("--qlora " + flags, "adapters alone, beside weights in 4 bit",
             [&](TrainingScenario& c) { adapters(c), c.base = &base; });
    } catch (const AdapterError&) {
      // No linear layer that adapters go with.
    }
  }
  std::ranges::stable_sort(all, [](const Change& a, const Change& b) {
    return std::pair(!a.fits, a.time) < std::pair(!b.fits, b.time);
  });
  return all;
}

}  // namespace headroom::model
