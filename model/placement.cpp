#include "model/placement.hpp"

#include <algorithm>
#include <cmath>

#include "model/activation.hpp"
#include "model/kv_cache.hpp"
#include "model/split.hpp"

namespace headroom::model {
namespace {

Bytes whole(double bytes) { return Bytes(static_cast<Size>(bytes)); }
Bytes share(Bytes bytes, Size shards) { return Bytes((bytes.count() + shards - 1) / shards); }

/// Share of the caches that one of `shards` cards holds: latents and lone heads are repeated.
double cache_share(const Scenario& s, Size shards) {
  if (shards == 1) return 1.0;
  Size heads = 0;
  for (const CacheClass& c : s.weights->model->profile.caches) {
    if (c.kind == CacheKind::latent) return 1.0;
    if (c.kv_heads > 0) heads = heads == 0 ? c.kv_heads : std::min(heads, c.kv_heads);
  }
  if (heads == 0) return 1.0 / static_cast<double>(shards);
  return 1.0 / static_cast<double>(std::min(heads, shards));
}

}  // namespace

Bytes card_budget(const Scenario& s, std::size_t card) {
  const Bytes memory = s.machine->devices[card].memory;
  if (s.gpu_budget < memory) return s.gpu_budget;
  if (s.gpu_budget == all_of_it)
    return whole(static_cast<double>(memory.count()) * s.runtime->utilization);
  return memory;
}

Bytes layer_bytes(const Weights& weights, Range range) {
  return weights.layers_before[static_cast<std::size_t>(range.last)] -
         weights.layers_before[static_cast<std::size_t>(range.first)];
}

Bytes head_bytes(const Scenario& s, Where embedding, Where head) {
  const bool copied = s.weights->model->profile.tied_head && embedding != head;
  return s.weights->head + (copied ? whole(s.weights->head_read) : Bytes(0));
}

CardUse card_use(const Scenario& s, const Plan& plan, Size card) {
  const Weights& w = *s.weights;
  const Size stage = card / plan.shards;
  const Size stages = plan.cards / plan.shards;
  const Range range{plan.cut[static_cast<std::size_t>(stage)],
                    plan.cut[static_cast<std::size_t>(stage) + 1]};
  const CacheBytes cache(s, reserved_tokens(s));
  CardUse use;
  use.weights = layer_bytes(w, range);
  if (stage == 0 && plan.embedding == Where::card) use.weights += w.embedding;
  if (stage == stages - 1 && plan.head == Where::card)
    use.weights += head_bytes(s, plan.embedding, plan.head);
  use.weights = share(use.weights, plan.shards);
  if (stage == 0) use.weights += plan.stage_buffer;
  use.kv_cache = cache(range.first, range.last);
  if (stage == 0 && plan.stage_buffer > Bytes(0))
    use.kv_cache += cache(plan.on_cards.last, std::ssize(w.layer));
  if (plan.shards > 1)
    use.kv_cache =
        whole(std::ceil(static_cast<double>(use.kv_cache.count()) * cache_share(s, plan.shards)));
  use.activations = activations(s, plan.shards) + logits(s, plan.shards);
  use.context = whole(s.runtime->context_bytes.value);
  use.fragmentation =
      whole(static_cast<double>((use.weights + use.kv_cache + use.activations).count()) *
            s.runtime->fragmentation.value);
  return use;
}

HostUse host_use(const Scenario& s, const Plan& plan) {
  HostUse use;
  use.process = whole(s.runtime->host_bytes.value);
  use.weights = layer_bytes(*s.weights, plan.on_cpu);
  if (plan.embedding == Where::cpu) use.weights += s.weights->embedding;
  if (plan.head == Where::cpu) use.weights += head_bytes(s, plan.embedding, plan.head);
  if (plan.stage_buffer == Bytes(0) && plan.on_cpu.size() + plan.on_disk.size() > 0) {
    const CacheBytes cache(s, reserved_tokens(s));
    use.kv_cache =
        cache(plan.on_cpu.first, plan.on_cpu.last) + cache(plan.on_disk.first, plan.on_disk.last);
    use.activations = activations(s, 1) + logits(s, 1);
  }
  return use;
}

Bytes disk_use(const Scenario& s, const Plan& plan) {
  return layer_bytes(*s.weights, plan.on_disk);
}

Plan place(const Scenario& scenario, double memory_factor) {
  return scenario.runtime->split == Split::tensors ? split_tensors(scenario, memory_factor)
                                                   : split_layers(scenario, memory_factor);
}

}  // namespace headroom::model
