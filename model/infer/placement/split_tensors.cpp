#include <algorithm>

#include "model/engine/runs_on.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/placement/setup.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/attention_replicas.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

Plan refused(Reason reason) {
  Plan plan;
  plan.reason = reason;
  return plan;
}

Size groups_of_experts(const Scenario& s) { return std::max<Size>(1, s.expert_parallel); }

/// True if all cards of the replicas divide feed-forwards and the output too.
bool copies_attention_alone(const Scenario& s) {
  return s.runtime->parallel.attention_replicas && sharing_replicas(s) > 1;
}

/// Reason why `shards` cards of each replica cannot divide the model. Heads: Megatron-LM,
/// arXiv:1909.08053 section 3; keys and values are repeated if there are fewer heads than cards.
/// These cards also divide a draft model. Source of all: vLLM 0.19 config/model.py
/// verify_with_parallel_config and Divider::constrain.
Reason obstacle(const Scenario& s, Size shards) {
  if (s.draft != nullptr && s.draft->weights != nullptr)
    if (const Reason of = obstacle(of_draft(s, shards), shards); of != Reason::none) return of;
  const Model& model = *s.weights->model;
  if (s.runtime->parallel.parts_may_differ)
    return shards <= model.shape.query_heads ? Reason::none : Reason::heads_not_divisible;
  const Shards& divided = s.weights->shards;
  const Divisors& d = divided.divisors;
  const Size sharing = sharing_replicas(s);
  const Size dense = copies_attention_alone(s) ? shards * sharing : shards;
  const Size query = model.shape.query_heads, kv = model.shape.kv_heads;
  if (query % shards != 0) return Reason::heads_not_divisible;
  if (kv > 0 && kv % shards != 0 && shards % kv != 0) return Reason::heads_not_divisible;
  if (!Divisors::fit(d.widths, dense)) return Reason::widths_not_divisible;
  if (dense > 1 && !Divisors::fit(d.groups, dense)) return Reason::groups_not_divisible;
  if (divided.padded_vocabulary(s.runtime->weights.vocabulary_multiple) % dense != 0)
    return Reason::vocabulary_not_divisible;
  if (divided.experts == 0) return Reason::none;
  // Cards that divide each expert.
  const Size parts = shards * sharing / groups_of_experts(s);
  if (!Divisors::fit(d.expert_widths, parts)) return Reason::widths_not_divisible;
  return parts == 1 || Divisors::fit(d.expert_groups, parts) ? Reason::none
                                                             : Reason::groups_not_divisible;
}

/// Reason why the experts cannot be spread over that many cards, `shards` of each replica.
Reason obstacle_of_experts(const Scenario& s, Size shards) {
  const Size groups = groups_of_experts(s), experts = s.weights->shards.experts;
  const Size cards = shards * sharing_replicas(s);
  if (groups == 1) return Reason::none;
  switch (s.runtime->parallel.expert_spread) {
    case ExpertSpread::none:
      return Reason::parallelism_unsupported;
    case ExpertSpread::all:
      return cards == groups ? Reason::none : Reason::experts_span_replicas;
    case ExpertSpread::some:
      return cards % groups == 0 && experts % groups == 0 ? Reason::none
                                                          : Reason::experts_divide_cards;
  }
  return Reason::none;
}

/// The first layer of a stage. Stages that do not divide the layers give one layer more to those
/// before the last, from the back. Source: vLLM 0.19 distributed/utils.py get_pp_indices. Layers of
/// towers of images and sound do not count: the first stage has them all.
Size first_layer(const Scenario& s, Size stages, Size stage) {
  const Size all = std::ssize(s.weights->layer), towers = tower_layers(*s.weights->model);
  const Size each = (all - towers) / stages, more = (all - towers) % stages;
  const Size with_more_from = stages - 1 - more;  // to stages - 2
  if (stage == 0) return 0;
  return towers + stage * each + std::clamp<Size>(stage - with_more_from, 0, more);
}

Plan divided(const Scenario& s, Size shards, Size stages, Size replicas) {
  const Size layers = std::ssize(s.weights->layer);
  Plan plan;
  plan.shards = shards;
  plan.stages = stages;
  plan.replicas = replicas;
  plan.cards = shards * stages * replicas;
  plan.shared_experts = sharing_replicas(s) > 1;
  plan.shared_dense = copies_attention_alone(s);
  plan.expert_groups = groups_of_experts(s);
  plan.computes_on_card = true;
  if (s.runtime->offload.input_on_cpu) plan.embedding = Where::cpu;
  plan.partly_on_host = s.cpu_offload > Bytes(0);
  plan.on_cards = {0, layers};
  plan.on_cpu = plan.on_disk = {layers, layers};
  plan.layer_boundaries.resize(static_cast<std::size_t>(stages) + 1);
  for (Size stage = 0; stage <= stages; ++stage)
    plan.layer_boundaries[static_cast<std::size_t>(stage)] = first_layer(s, stages, stage);
  return plan;
}

}  // namespace

// No card of a group that divides the matrices of a stage holds more than the first.

bool weights_exceed_cards(const Uses& uses, double factor) {
  const Plan& plan = uses.setup().division();
  for (Size first = 0; first < plan.cards; first += plan.shards) {
    const CardUse& use = uses.card(plan, first);
    const Bytes budget = uses.setup().limits(uses.scenario(), first).budget;
    if (use.weights > limit_at(budget, use.uncertain_work(), factor)) return true;
  }
  return false;
}

Bytes short_on_cards(const Uses& uses, double factor) {
  return uses.lacking(factor, [&] {
    const Plan& plan = uses.setup().division();
    Bytes most;
    for (Size first = 0; first < plan.cards; first += plan.shards) {
      const Limits limits = uses.setup().limits(uses.scenario(), first);
      most = std::max(most, over_limits(uses, plan, first, limits, factor));
    }
    return most;
  });
}

namespace {

Bytes short_in_host(const Uses& uses, double factor) {
  const Plan& plan = uses.setup().division();
  return uses.host(plan).total() - ram_limit(uses, plan, factor);
}

}  // namespace

Plan split_tensors(const Uses& uses, double factor) {
  Plan plan = uses.setup().division();
  if (const Bytes cards = short_on_cards(uses, factor); cards > Bytes(0)) {
    plan.reason = Reason::gpu_memory;
    plan.short_bytes = cards;
  }
  if (!plan.feasible()) return plan;
  if (const Bytes host = short_in_host(uses, factor); host > Bytes(0)) {
    plan.reason = Reason::ram;
    plan.short_bytes = host;
  }
  return plan;
}

bool holds_division(const Uses& uses, double factor) {
  return uses.setup().division().feasible() && short_on_cards(uses, factor) <= Bytes(0) &&
         short_in_host(uses, factor) <= Bytes(0);
}

Plan divide_tensors(const Scenario& s) {
  const Size stages = s.stages(), cards = card_count(s);
  const Size replicas = std::max<Size>(1, s.data_parallel);
  if (cards == 0) return refused(Reason::no_gpu);
  if (cards > 1 && is_listed(s.runtime->parallel.undivided_classes, *s.weights->model))
    return refused(Reason::parallelism_unsupported);
  if (stages > std::ssize(s.weights->layer)) return refused(Reason::layers_not_divisible);
  const Size asked = asked_shards(s);
  if (s.expert_parallel > 1) {
    if (s.weights->shards.experts == 0) return refused(Reason::no_experts);
    if (const Reason reason = obstacle_of_experts(s, asked); reason != Reason::none)
      return refused(reason);
  }
  if (asked > 0)
    if (const Reason reason = obstacle(s, asked); reason != Reason::none) return refused(reason);
  const Size least_asked = std::max<Size>(1, asked);
  if (least_asked > cards || stages > cards || replicas > cards ||
      least_asked * stages * replicas > cards)
    return refused(Reason::not_enough_gpus);
  if (asked > 0) return divided(s, asked, stages, replicas);
  // As many cards as divide the model.
  for (Size shards = cards / (stages * replicas); shards >= 1; --shards)
    if (obstacle(s, shards) == Reason::none) return divided(s, shards, stages, replicas);
  return refused(obstacle(s, 1));
}

}  // namespace headroom::model
