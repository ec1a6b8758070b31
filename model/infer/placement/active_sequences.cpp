#include "model/infer/placement/active_sequences.hpp"

#include <algorithm>

#include "model/infer/placement/asked_sequences.hpp"
#include "model/infer/placement/setup.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {

namespace {

bool keeps_a_pool(const Scenario& s) {
  return s.runtime->serving.admission != Admission::slots &&
         s.runtime->serving.continuous_batching && s.kv_cache;
}

/// True if weights alone overflow a card.
bool weights_overflow(const Uses& uses, const Plan& plan, double factor) {
  const Scenario& s = uses.scenario();
  for (Size card = 0; card < plan.cards; ++card) {
    const CardUse& use = uses.card(plan, card);
    if (use.weights > limit_at(uses.setup().budget(s, card), use.uncertain_work(), factor))
      return true;
  }
  return false;
}

/// Sequences that the fullest card would have room for, were all else the same whatever their
/// number.
Size room_for(const Uses& uses, const Plan& plan, double factor) {
  const Scenario& s = uses.scenario();
  double least = static_cast<double>(s.batch);
  for (Size card = 0; card < plan.cards; ++card) {
    const Bytes caches = uses.card(plan, card).kv_cache;
    if (caches == Bytes(0)) continue;
    const Bytes room = caches - over_budget(uses, plan, card, factor);
    const double left = room.real() / caches.real();
    least = std::min(least, static_cast<double>(s.batch) * left);
  }
  return std::max<Size>(1, static_cast<Size>(least));
}

}  // namespace

std::optional<Scenario> max_admitted(const Uses& tried, const Plan& plan, double factor) {
  const Scenario& s = tried.scenario();
  if (s.batch < 2 || !keeps_a_pool(s)) return std::nullopt;
  const Size most = s.most_at_once();
  const bool limited = plan.feasible() && most < s.batch;
  if (!limited && (plan.reason != Reason::gpu_memory || weights_overflow(tried, plan, factor)))
    return std::nullopt;
  Scenario fewer = s;
  // A division that is asked for has no stages of its own, such as one a box (Scenario::stages).
  fewer.tensor_parallel = plan.shards;
  fewer.pipeline_parallel = plan.stages;
  if (limited) {
    fewer.batch = most;
    return fewer;
  }
  const KnownBatch::Key key{s.batch,       s.max_sequences, s.prompt_tokens, s.output_tokens,
                            s.context,     s.least_context, s.gpu_budget,    s.ram_budget,
                            s.disk_budget, factor};
  fewer.batch = tried.setup().plans().admitted(key, [&] {
    const Size guess = std::min(most, room_for(tried, plan, factor));
    // The whole batch is known to have no room.
    const Size too_many = most < s.batch ? most + 1 : most;
    return largest_near(guess, 0, too_many, [&](Size batch) {
      fewer.batch = batch;
      return has_placement(Uses(fewer, tried.setup()), factor);
    });
  });
  return fewer.batch > 0 ? std::optional(fewer) : std::nullopt;
}

Scenario admitted_scenario(const Scenario& s) {
  if (!keeps_a_pool(s)) return s;
  const Scenario started = as_started(s);
  const Uses uses(started);
  return max_admitted(uses, place(uses, 1.0), 1.0).value_or(started);
}

}  // namespace headroom::model
