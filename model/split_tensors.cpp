#include <algorithm>

#include "model/split.hpp"

namespace headroom::model {
namespace {

Plan refused(Reason reason) {
  Plan plan;
  plan.reason = reason;
  return plan;
}

/// Whether `shards` cards can split the heads: Megatron-LM (arXiv:1909.08053 section 3); kv heads
/// are repeated where there are fewer of them than cards.
bool divides(const Model& model, Size shards) {
  const Size query = model.shape.query_heads, kv = model.shape.kv_heads;
  if (shards == 1) return true;
  if (query == 0 || query % shards != 0) return false;
  return kv == 0 || kv % shards == 0 || shards % kv == 0;
}

/// The smallest budget among the cards [first, last).
Bytes smallest_budget(const Scenario& s, Size first, Size last) {
  Bytes least = all_of_it;
  for (Size card = first; card < last; ++card)
    least = std::min(least, card_budget(s, static_cast<std::size_t>(card)));
  return least;
}

Plan with(const Scenario& s, double factor, Size shards, Size stages) {
  const Size layers = std::ssize(s.weights->layer);
  Plan plan;
  plan.shards = shards;
  plan.stages = stages;
  plan.cards = shards * stages;
  plan.computes_on_card = true;
  plan.on_cards = {0, layers};
  plan.on_cpu = plan.on_disk = {layers, layers};
  for (Size stage = 0; stage <= stages; ++stage)
    plan.cut[static_cast<std::size_t>(stage)] = stage * layers / stages;
  for (Size stage = 0; stage < stages; ++stage) {
    const Bytes budget = scaled(smallest_budget(s, stage * shards, (stage + 1) * shards), factor);
    const Bytes use = card_use(s, plan, stage * shards).total();
    if (use <= budget) continue;
    plan.reason = Reason::gpu_memory;
    plan.short_bytes = std::max(plan.short_bytes, use - budget);
  }
  const Bytes ram = std::min(s.ram_budget, s.machine->host.ram);
  const Bytes process(static_cast<Size>(s.runtime->host_bytes.value));
  if (plan.feasible() && process > ram) {
    plan.reason = Reason::ram;
    plan.short_bytes = process - ram;
  }
  return plan;
}

}  // namespace

Plan split_tensors(const Scenario& s, double factor) {
  const Size stages = std::max<Size>(1, s.pipeline_parallel), cards = card_count(s);
  if (cards == 0) return refused(Reason::no_gpu);
  if (stages > std::ssize(s.weights->layer)) return refused(Reason::layers_not_divisible);
  const Size asked = std::max<Size>(1, s.tensor_parallel);
  if (!divides(*s.weights->model, asked)) return refused(Reason::heads_not_divisible);
  if (asked * stages > cards) return refused(Reason::not_enough_gpus);
  if (s.tensor_parallel > 0) return with(s, factor, asked, stages);
  // As few cards as hold the model: none that the weights alone overflow is tried.
  const Bytes budget = smallest_budget(s, 0, 1);
  const Size least =
      budget > Bytes(0) ? s.weights->total.count() / (budget.count() * stages) : cards;
  Size widest = 1;
  for (Size shards = cards / stages; shards > 1 && widest == 1; --shards)
    if (divides(*s.weights->model, shards)) widest = shards;
  for (Size shards = std::max<Size>(1, least); shards < widest; ++shards) {
    if (!divides(*s.weights->model, shards)) continue;
    const Plan plan = with(s, factor, shards, stages);
    if (plan.feasible()) return plan;
  }
  return with(s, factor, widest, stages);
}

}  // namespace headroom::model
