// Device maps of a scenario's budgets: those that mean a plan, and those of balanced budgets.
#include <algorithm>

#include "model/answer/placement/strategy.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

Bytes largest_layer(const Scenario& s) {
  Bytes most = std::max(s.weights->head, s.weights->embedding);
  for (const Bytes bytes : s.weights->layer) most = std::max(most, bytes);
  return most;
}

/// accelerate's unit, in whole MiB so that it can be written down.
Eighths limit(Bytes room) {
  return 8 * (std::max<Size>(0, room.count()) / mebibyte.count() * mebibyte.count());
}

/// Writes the mapper's map for `made.memory`. Returns false if the mapper fails or splits a layer.
bool write_map(Mapped& made, const Scenario& s, const ModuleTree& tree, Policy policy,
               const MapOptions& options) {
  try {
    const MaxMemory balanced = balanced_memory(tree, made.memory, policy, options);
    made.map = infer_device_map(tree, balanced, options);
    made.assignment = assignment_of(*s.weights->model, made.map);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

/// A module that the mapper places whole. Devices: the plan's cards, then 0 + cards: the CPU, 1 +
/// cards: the disk.
struct MapItem {
  Bytes bytes;
  Size device;
};

std::vector<MapItem> items_of(const Scenario& s, const Plan& plan, const Assignment& a) {
  const auto device = [&](Spot spot) -> Size {
    return spot >= 0 ? spot : plan.cards + (spot == on_cpu ? 0 : 1);
  };
  const bool tied = s.weights->model->profile.tied_head;
  std::vector<MapItem> items{
      {s.weights->embedding + (tied ? s.weights->head : Bytes(0)), device(a.embedding)}};
  for (std::size_t i = 0; i < a.layer.size(); ++i)
    items.push_back({s.weights->layer[i], device(a.layer[i])});
  if (!tied) items.push_back({s.weights->head, device(a.head)});
  return items;
}

/// The max_memory that as_map passes. Let `used` bytes be on a device that reserves room for the
/// largest later module. Its last module is placed from used + largest after it on, and the next
/// one from used + next + largest after that. The middle between the two is safe from both.
MaxMemory limits_of(const Scenario& s, const Plan& plan, const std::vector<MapItem>& items) {
  const MaxMemory shares = weights_share(s, plan);
  std::vector<Bytes> largest(items.size() + 1);  // largest of the items from here on
  for (std::size_t i = items.size(); i-- > 0;)
    largest[i] = std::max(largest[i + 1], items[i].bytes);
  MaxMemory memory;
  std::size_t next = 0;
  for (Size device = 0; device <= plan.cards; ++device) {
    const bool cpu = device == plan.cards;
    const DeviceMemory& share =
        cpu ? shares[shares.size() - 2] : shares[static_cast<std::size_t>(device)];
    Bytes used;
    for (; next < items.size() && items[next].device == device; ++next) used += items[next].bytes;
    const bool reserves = cpu || device == 0;
    const Bytes low = used + (reserves ? largest[next] : Bytes(0));
    Eighths most = share.limit;
    if (next < items.size()) {
      const Bytes high = used + items[next].bytes + (reserves ? largest[next + 1] : Bytes(0));
      most = std::min(most, limit(Bytes((low.count() + high.count()) / 2)));
    }
    memory.push_back({share.device, std::max(most, limit(low + mebibyte))});
  }
  memory.push_back({"disk", 0, false});
  return memory;
}

}  // namespace

MaxMemory weights_share(const Scenario& s, const Plan& plan) {
  MaxMemory memory;
  const Uses uses(s);
  for (Size card = 0; plan.cards > 0 && card < card_count(s); ++card) {
    Bytes room = uses.room(card, 1.0);
    if (card < plan.cards) room -= card_use(s, plan, card).kv_cache;
    memory.push_back({std::to_string(card), limit(room)});
  }
  const HostUse host = uses.host(plan);
  const Bytes room = ram_limit(uses, plan, 1.0) - (host.total() - host.weights);
  memory.push_back({"cpu", limit(room)});
  memory.push_back({"disk", 0, false});
  return memory;
}

std::optional<Mapped> as_map(const Scenario& s, const ModuleTree& tree, const MapOptions& options) {
  if (s.runtime->offload.mode != Offload::stream) return std::nullopt;
  const Plan plan = place(s, 1.0);
  if (!plan.feasible()) return std::nullopt;
  const Assignment wanted = assignment_of(plan);
  Mapped made{limits_of(s, plan, items_of(s, plan, wanted)), {}, {}};
  if (write_map(made, s, tree, Policy::plain, options) && made.assignment == wanted) return made;
  return Mapped{weights_share(s, plan), device_map_of(tree, *s.weights->model, wanted), wanted,
                false};
}

std::optional<Mapped> mapped(const Scenario& s, const ModuleTree& tree, Policy policy,
                             const MapOptions& options) {
  if (s.runtime->offload.mode != Offload::stream) return std::nullopt;
  const Plan plan = place(s, 1.0);
  if (!plan.feasible()) return std::nullopt;
  MaxMemory memory = weights_share(s, plan);
  // The mappers keep room for the largest layer on the first card, whether or not any is streamed.
  if (plan.cards > 0 && plan.streaming_buffer == Bytes(0))
    memory[0].limit += limit(largest_layer(s) + mebibyte);
  for (int tries = 0; tries < 8; ++tries) {
    Mapped made{memory, {}, {}};
    if (!write_map(made, s, tree, policy, options)) return std::nullopt;
    Scenario assigned = s;
    assigned.assignment = &made.assignment;
    const Plan result = place(assigned, 1.0);
    if (result.feasible()) return made;
    if (result.reason != Reason::gpu_memory) return std::nullopt;
    // A layer more than there is room for: its cache was not counted on this card.
    Eighths& allowed = memory[static_cast<std::size_t>(result.short_card)].limit;
    allowed = limit(Bytes(allowed / 8) - result.short_bytes);
  }
  return std::nullopt;
}

}  // namespace headroom::model
