#include "model/answer/placement/units.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/split.hpp"

namespace headroom::model {
namespace {

/// To whole bytes or FLOPs.
Size whole(auto amount) { return std::llround(amount.value()); }

// An unknown rate is slow, but not infinitely so: prices must stay finite.
Throughput known(Throughput rate) {
  rate.bytes_s = std::max(rate.bytes_s, BytesPerSecond(1));
  rate.repeat_s = std::max(rate.repeat_s, BytesPerSecond(1));
  rate.flops_s = std::max(rate.flops_s, FlopsPerSecond(1));
  rate.attend_s = std::max(rate.attend_s, FlopsPerSecond(1));
  return rate;
}

UnitSeconds seconds_of(const Roofline& roof) {
  return {roof.read_weights.value(), roof.compute().value(), roof.between_products().value()};
}

}  // namespace

UnitBuilder::UnitBuilder(const Scenario& s)
    : s_(s),
      uses_(s),
      pass_(step_pass(s)),
      rules_(s),
      layers_(std::ssize(s.weights->layer)),
      cpu_(known(cpu_rate(s))) {
  for (Size card = 0; card < card_count(s); ++card)
    cards_.push_back(known(card_rate(s, s.machine->devices[static_cast<std::size_t>(card)])));
}

Units UnitBuilder::units(const Regime& regime) const {
  Units units;
  std::map<std::array<Size, 6>, std::size_t> known;  // to whole bytes and FLOPs
  const CacheBytes& cache = uses_.caches();
  const auto add = [&](Size layer, Content content) {
    const LayerSpan piece{{layer, layer + 1}, content};
    const Bytes bytes = piece_bytes(*s_.weights, piece);
    const Bytes caches = content == Content::experts ? Bytes(0) : cache(layer, layer + 1);
    const LayerSums sums = sums_of(s_, rules_, intersect(piece.layers, pass_.layers), content);
    const Work work = layer_work(s_, rules_, pass_, sums).all;
    const bool attends = content != Content::experts && !streams(s_);
    const Work attention = attends ? attention_work(s_, rules_, pass_, sums) : Work{};
    const RealBytes moved = sums.streamed_bytes();
    const std::array<Size, 6> alike{
        static_cast<Size>(kind_of(layer, content)),  bytes.count(),     caches.count(),
        whole(work.weight_bytes + work.cache_bytes), whole(work.flops), whole(moved)};
    const auto [at, fresh] = known.try_emplace(alike, units.classes.size());
    if (fresh) {
      UnitClass& u = add_class(regime, units, bytes, work, attention, moved);
      u.cache = caches.count();
      u.kind = kind_of(layer, content);
    }
    ++units.classes[at->second].count;
    units.members[at->second].push_back({layer, content});
  };
  for (Size layer = 0; layer < layers_; ++layer) {
    const LayerSpan experts{{layer, layer + 1}, Content::experts};
    const bool apart =
        s_.runtime->offload.offloads_experts && piece_bytes(*s_.weights, experts) > Bytes(0);
    add(layer, apart ? Content::dense : Content::whole);
    if (apart) add(layer, Content::experts);
  }
  add_ends(regime, units);
  return units;
}

/// Layers that a step does not run, such as an image tower's, are on no way between devices.
UnitKind UnitBuilder::kind_of(Size layer, Content content) const {
  if (layer < pass_.layers.first || layer >= pass_.layers.last) return UnitKind::end;
  return content == Content::whole   ? UnitKind::layer
         : content == Content::dense ? UnitKind::dense
                                     : UnitKind::experts;
}

/// The embedding and the head. Tied ones stay together, unless the runtime keeps the embedding in
/// host memory: then the head on a card is a copy.
void UnitBuilder::add_ends(const Regime& regime, Units& units) const {
  const QuantisedModel& w = *s_.weights;
  const auto add = [&](Size unit, Bytes bytes, const Work& work, RealBytes moved) -> UnitClass& {
    UnitClass& u = add_class(regime, units, bytes, work, {}, moved);
    u.count = 1;
    units.members.back().push_back({unit});
    if (regime.cards && streams(s_)) return u;
    // Off the cards the head is multiplied after the layers, not with them.
    const double after = seconds(work, regime.copies ? cards_.front() : cpu_).value();
    u.off = {};
    u.cpu_s += after;
    u.disk_s += after;
    return u;
  };
  const RealBytes embedding = w.embedding.real(), head(w.head_read);
  if (s_.runtime->offload.input_on_cpu) {
    add(head_unit, head_bytes(s_, false), head_work(s_, pass_), head).on_cpu =
        head_bytes(s_, true).count();
  } else if (w.model->profile.tied_head) {
    add(embedding_and_head_unit, w.embedding + w.head, head_work(s_, pass_), embedding + head);
  } else {
    add(embedding_unit, w.embedding, {}, embedding);
    add(head_unit, w.head, head_work(s_, pass_), head);
  }
}

UnitClass& UnitBuilder::add_class(const Regime& regime, Units& units, Bytes bytes, const Work& work,
                                  const Work& attention, RealBytes moved) const {
  UnitClass u;
  u.on_card = u.on_cpu = u.on_disk = bytes.count();
  if (regime.cards)
    for (const Throughput& card : cards_) u.on.push_back(seconds_of(roofline(work, card)));
  const bool passes = regime.cards && streams(s_);
  if (regime.copies) {
    u.off = seconds_of(roofline(work, cards_.front()));
    u.cpu_s = ((work.weight_bytes + work.cache_bytes) / bus_rate(s_)).value();
  } else if (passes) {
    u.off = seconds_of(roofline(work, cards_.front()));
    u.cpu_s = (moved / bus_rate(s_)).value();
  } else {
    u.off = seconds_of(roofline(matrices_on_cpu(work, attention), cpu_));
    u.attention = seconds_of(cpu_attention(attention, cpu_));
  }
  u.disk_s = u.cpu_s + ((streams(s_) ? moved : work.weight_bytes) / disk_rate(s_)).value();
  u.offloads = regime.offloads && (!passes || bytes <= regime.buffer);
  units.classes.push_back(u);
  units.members.emplace_back();
  units.module.push_back(bytes);
  return units.classes.back();
}

UnitProblem UnitBuilder::problem(const Regime& regime, const Units& units) const {
  UnitProblem p;
  p.units = units.classes;
  p.caches_on_first = regime.cards && streams(s_);
  if (regime.cards)
    for (Size card = 0; card < card_count(s_); ++card)
      p.cards.push_back(uses_.room(card, 1.0).count());
  if (regime.cards) p.cards[0] -= regime.buffer.count();
  HostUse host = uses_.host(Plan{});
  if (s_.runtime->offload.input_on_cpu) host.weights += s_.weights->embedding;
  if (regime.offloads && !p.caches_on_first)
    host.activations = activations(s_, pass_tokens(s_), 1, Side::host);
  p.host_room = (ram_limit(uses_, Plan{}, 1.0) - host.total()).count();
  if (s_.runtime->offload.disk)
    p.disk_room = std::min(s_.disk_budget, s_.machine->host.disk).count();
  p.launches = launches(s_, pass_).value();
  p.prefetches = p.caches_on_first && s_.runtime->offload.prefetches;
  p.launches_hide = launches_overlap(s_) && regime.cards;
  // Cards that divide matrices do not hand on. A CPU that computes takes over for each chunk.
  const double handoff = s_.runtime->offload.device_handoff_s.value;
  if (!s_.runtime->parallel.tensor_parallel_layers) p.card_handoff = handoff;
  if (regime.cards && !regime.copies && !streams(s_)) p.cpu_handoff = pass_.weight_reads * handoff;
  return p;
}

}  // namespace headroom::model
