#include "model/training_advice.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <stdexcept>

namespace headroom::model {
namespace {

/// The peak, or more than any card has where the step cannot be.
Bytes peak_of(const TrainingScenario& s) {
  try {
    return evaluate_training(s).peak;
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
  return largest(Size{1} << 20, [&](Size n) {
    s.batch = n;
    return peak_of(s) <= card;
  });
}

Size longest_sequence(TrainingScenario s, Bytes card) {
  const Size step = 64 * s.parallel.context;
  return step * largest(Size{1} << 20, [&](Size n) {
           s.sequence = n * step;
           return peak_of(s) <= card;
         });
}

Size fewest_replicas(TrainingScenario s, Bytes card) {
  s.zero = 3;
  for (Size n = 2; n <= 4096; n *= 2) {
    s.parallel.replicas = n;
    if (peak_of(s) <= card) return n;
  }
  return 0;
}

std::vector<Change> changes_that_save(const TrainingScenario& s, Bytes card) {
  const Bytes now = peak_of(s);
  std::vector<Change> all;
  const auto with = [&](std::string flags, std::string effect, auto&& change) {
    TrainingScenario changed = s;
    change(changed);
    const Bytes peak = peak_of(changed);
    if (peak >= now) return;
    all.push_back({std::move(flags), std::move(effect), peak, now - peak,
                   evaluate_training(changed).host, peak <= card});
  };
  // In the order of what they cost in time.
  if (s.fused_attention == false)
    with("--attention flash", "faster", [](auto& c) { c.fused_attention = true; });
  if (!s.fused_loss) with("--fused-loss", "about as fast", [](auto& c) { c.fused_loss = true; });
  if (!s.fused_kernels)
    with("--liger", "faster", [](auto& c) { c.fused_kernels = c.fused_loss = true; });
  if (s.batch > 1)
    with(fmt::format("--batch 1 --grad-accum {}", s.accumulated * s.batch),
         "smaller products, less of the card's speed", [](auto& c) {
           c.accumulated *= c.batch;
           c.batch = 1;
         });
  if (s.adapter == nullptr && s.optimizer->name() == "adamw")
    with("--optimizer adamw-8bit", "about as fast; states in 8 bit",
         [](auto& c) { c.optimizer = &optimizer("adamw-8bit"); });
  if (s.adapter == nullptr && s.recipe->name != "pure-16bit")
    with("--recipe pure-16bit", "faster; small updates are lost to rounding",
         [](auto& c) { c.recipe = &recipe("pure-16bit"); });
  if (s.parallel.alike() > 1 && s.zero < 3)
    with("--zero 3", "half as much again between cards", [](auto& c) { c.zero = 3; });
  if (s.recomputation != Recomputation::full)
    with("--checkpointing full", "forward twice: a third longer",
         [](auto& c) { c.recomputation = Recomputation::full; });
  if (!s.optimizer_on_host && (s.zero > 0 || s.adapter == nullptr))
    with("--offload-optimizer cpu", "the step runs on the CPU, gradients and weights cross the bus",
         [](auto& c) { c.optimizer_on_host = true; });
  with(fmt::format("--seq {}", s.sequence / 2), "shorter texts",
       [](auto& c) { c.sequence = std::max<Size>(1, c.sequence / 2); });
  std::stable_partition(all.begin(), all.end(), [](const Change& c) { return c.fits; });
  return all;
}

}  // namespace headroom::model
