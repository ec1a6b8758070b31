#include "model/infer/placement/assignment.hpp"

#include <algorithm>
#include <stdexcept>

#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

/// The slower of two places: the disk, then host memory, then any card.
Spot slower(Spot a, Spot b) { return std::min(a, b); }

Where where_of(Spot spot) {
  return spot >= 0 ? Where::card : spot == on_cpu ? Where::cpu : Where::disk;
}

/// The largest module that is not on a card: what passes through the first card in one go.
Bytes largest_offloaded(const Scenario& s, const Assignment& a) {
  Bytes most;
  for (const Spot spot : {on_cpu, on_disk}) {
    for (const LayerSpan& piece : a.pieces(spot))
      for (Size i = piece.layers.first; i < piece.layers.last; ++i)
        most = std::max(most, piece_bytes(*s.weights, {{i, i + 1}, piece.content}));
    if (a.embedding == spot) most = std::max(most, s.weights->embedding);
    if (a.head == spot) most = std::max(most, head_bytes(s, a.embedding == a.head));
  }
  return most;
}

/// Counts of layers as ranges: a layer counts where its slowest part is.
void count_layers(const Assignment& a, Plan& plan) {
  Size cards = 0, cpu = 0;
  for (std::size_t i = 0; i < a.layer.size(); ++i) {
    const Spot spot = a.experts.empty() ? a.layer[i] : slower(a.layer[i], a.experts[i]);
    cards += spot >= 0 ? 1 : 0;
    cpu += spot == on_cpu ? 1 : 0;
  }
  plan.on_cards = {0, cards};
  plan.on_cpu = {cards, cards + cpu};
  plan.on_disk = {cards + cpu, std::ssize(a.layer)};
}

void lack(Plan& plan, Reason reason, Bytes bytes) {
  if (bytes <= Bytes(0) || !plan.feasible()) return;
  plan.reason = reason;
  plan.short_bytes = bytes;
}

}  // namespace

Assignment assign(std::vector<Spot> layer, std::vector<Spot> experts, Spot embedding, Spot head) {
  if (!experts.empty() && experts.size() != layer.size())
    throw std::invalid_argument("experts of another number of layers");
  Assignment a{std::move(layer), std::move(experts), embedding, head, {}};
  Spot last = std::max(a.embedding, a.head);
  for (const auto* spots : {&a.layer, &a.experts})
    for (const Spot spot : *spots) last = std::max(last, spot);
  a.on.resize(static_cast<std::size_t>(std::max<Spot>(last, -1) + 3));
  const auto put = [&](Spot spot, std::size_t i, Content content) {
    const auto at = static_cast<Size>(i);
    auto& pieces = a.on[static_cast<std::size_t>(spot >= 0 ? spot : a.cards() - 1 - spot)];
    if (!pieces.empty() && pieces.back().content == content && pieces.back().layers.last == at)
      ++pieces.back().layers.last;
    else
      pieces.push_back({{at, at + 1}, content});
  };
  for (std::size_t i = 0; i < a.layer.size(); ++i) {
    const bool together = a.experts.empty() || a.experts[i] == a.layer[i];
    put(a.layer[i], i, together ? Content::whole : Content::dense);
    if (!together) put(a.experts[i], i, Content::experts);
  }
  return a;
}

Assignment assignment_of(const Plan& plan) {
  // The ranges cover every layer once.
  std::vector<Spot> layer(static_cast<std::size_t>(plan.on_cards.size() + plan.on_cpu.size() +
                                                   plan.on_disk.size() + plan.tower.size()));
  const auto fill = [&](Range range, Spot spot) {
    std::fill(layer.begin() + range.first, layer.begin() + range.last, spot);
  };
  fill(plan.on_cpu, on_cpu);
  fill(plan.on_disk, on_disk);
  for (Size card = 0; card < plan.cards; ++card)
    for_pieces_on_card(plan, card,
                       [&](const LayerSpan& p) { fill(p.layers, static_cast<Spot>(card)); });
  const auto spot = [&](Where where, Size card) {
    return where == Where::card ? static_cast<Spot>(card) : where == Where::cpu ? on_cpu : on_disk;
  };
  std::vector<Spot> experts;
  if (plan.host_experts.size() > 0) {
    experts = layer;
    std::fill(experts.begin() + plan.host_experts.first, experts.begin() + plan.host_experts.last,
              on_cpu);
  }
  return assign(std::move(layer), std::move(experts), spot(plan.embedding, 0),
                spot(plan.head, plan.head_card >= 0 ? plan.head_card : plan.cards - 1));
}

namespace {

/// True if a tied head and the embedding are one.
bool together(const Assignment& a) { return a.embedding == a.head; }

Bytes caches_in(const Scenario& s, const CacheBytes& cache, Spot spot) {
  Bytes bytes;
  for (const LayerSpan& piece : s.assignment->pieces(spot))
    if (piece.content != Content::experts) bytes += cache(piece.layers.first, piece.layers.last);
  return bytes;
}

}  // namespace

Bytes assigned_weights(const Scenario& s, Spot spot) {
  const Assignment& a = *s.assignment;
  Bytes bytes;
  for (const LayerSpan& piece : a.pieces(spot)) bytes += piece_bytes(*s.weights, piece);
  if (a.embedding == spot) bytes += s.weights->embedding;
  if (a.head == spot) bytes += head_bytes(s, together(a));
  return bytes;
}

ResidentBytes resident_on_card(const Scenario& s, const Plan& plan, const CacheBytes& cache,
                               Size card) {
  const auto spot = static_cast<Spot>(card);
  ResidentBytes held{assigned_weights(s, spot), caches_in(s, cache, spot)};
  // Layers that pass through the first card keep their caches there.
  if (card == 0 && plan.streaming_buffer > Bytes(0))
    held.caches += caches_in(s, cache, on_cpu) + caches_in(s, cache, on_disk);
  return held;
}

Bytes caches_on_card(const Scenario& s, const Plan& plan, const CacheBytes& cache, Size card) {
  if (plan.assignment != nullptr) return resident_on_card(s, plan, cache, card).caches;
  if (!caches_on_cards(s)) return Bytes(0);
  const Range range = plan.layers_of(card);
  Bytes bytes = cache(range.first, range.last);
  if (card == 0 && plan.streaming_buffer > Bytes(0))
    bytes += cache(plan.on_cards.last, std::ssize(s.weights->layer));
  return bytes;
}

ResidentBytes resident_on_host(const Scenario& s, const Plan& plan, const CacheBytes& cache) {
  ResidentBytes held{assigned_weights(s, on_cpu), {}};
  if (plan.streaming_buffer > Bytes(0)) return held;
  held.caches = caches_in(s, cache, on_cpu) + caches_in(s, cache, on_disk);
  return held;
}

Bytes resident_on_disk(const Scenario& s) { return assigned_weights(s, on_disk); }

Plan place_assigned(const Uses& uses, double factor) {
  const Scenario& s = uses.scenario();
  const Assignment& a = *s.assignment;
  Plan plan;
  plan.assignment = &a;
  plan.cards = a.cards();
  plan.computes_on_card = plan.cards > 0;
  plan.embedding = where_of(a.embedding);
  plan.head = where_of(a.head);
  plan.head_card = std::max<Spot>(0, a.head);
  count_layers(a, plan);
  if (plan.cards > card_count(s)) {
    plan.reason = Reason::not_enough_gpus;
    return plan;
  }
  if (plan.computes_on_card && s.runtime->offload.mode == Offload::stream)
    plan.streaming_buffer = largest_offloaded(s, a);
  for (Size card = 0; card < plan.cards && plan.feasible(); ++card) {
    if (!is_used(plan, card)) continue;
    const CardUse use = uses.card(plan, card);
    lack(plan, Reason::gpu_memory, use.weights + use.kv_cache - uses.room(card, factor));
    if (!plan.feasible()) plan.short_card = card;
  }
  const bool on_host = a.cards() == 0 || plan.on_cards.size() < std::ssize(a.layer) ||
                       plan.embedding != Where::card || plan.head != Where::card;
  if (never_splits_weights(s) && on_host && (plan.cards > 0 || disk_use(s, plan) > Bytes(0)))
    lack(plan, Reason::no_offload, uses.host(plan).weights + disk_use(s, plan));
  lack(plan, Reason::ram, uses.host(plan).total() - ram_limit(uses, plan, factor));
  lack(plan, Reason::disk, disk_use(s, plan) - std::min(s.disk_budget, s.machine->host.disk));
  return plan;
}

}  // namespace headroom::model
