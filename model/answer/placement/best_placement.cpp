#include "model/answer/placement/best_placement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>

#include "model/answer/placement/search.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/infer/timeline/throughput.hpp"

namespace headroom::model {
namespace {

bool streams(const Scenario& s) { return s.runtime->offload.mode == Offload::stream; }

/// One choice of what the search itself does not choose.
struct Regime {
  bool cards = true;     ///< false: everything is computed on the CPU
  bool offloads = true;  ///< false: everything is on cards
  bool copies = false;   ///< what is offloaded is copied to the card and computed there
  Bytes buffer;          ///< on the first card: what is larger is not streamed
};

/// What a unit is: a layer or a part of it, or one of these.
constexpr Size embedding_unit = -1, head_unit = -2, ends_unit = -3;
struct Member {
  Size layer;
  Content content = Content::whole;
};

/// The units of a scenario, by class.
struct Units {
  std::vector<UnitClass> classes;
  std::vector<std::vector<Member>> members;
  std::vector<Bytes> module;  ///< what passes through the card when a unit is streamed
};

/// To whole bytes or FLOPs.
Size whole(auto amount) { return std::llround(amount.value()); }

class Best {
 public:
  explicit Best(const Scenario& s)
      : s_(s), uses_(s), pass_(step_pass(s)), layers_(std::ssize(s.weights->layer)) {}

  std::optional<BestPlacement> run() {
    for (const Order order : {Order::first_layers, Order::last_layers})
      if (auto placed = in_order(s_, order)) take(std::move(*placed));
    if (const Plan plan = place(s_, 1.0); plan.feasible())
      if (auto placed = placed_at(s_, assignment_of(plan))) take(std::move(*placed));
    for (const Regime& regime : regimes()) try_regime(regime);
    if (!best_) return std::nullopt;
    BestPlacement best{std::move(*best_), Seconds(bound_), false};
    best.exact = best.placed.step.value() <= bound_ * (1 + 1e-9);
    if (best.exact) best.bound = best.placed.step;
    return best;
  }

 private:
  bool has_cards() const { return card_count(s_) > 0; }
  Throughput first_card() const { return card_rate(s_, s_.machine->devices[0]); }
  /// Of what computes the units that are not on cards.
  Throughput other_rate(const Regime& regime) const {
    return regime.copies ? first_card() : cpu_rate(s_);
  }

  std::vector<Regime> regimes() const {
    std::vector<Regime> all;
    const PrefillOffload prompts =
        streams(s_) ? PrefillOffload::on_cpu : host_prompts(s_, pass_.tokens);
    const bool copied = prompts == PrefillOffload::on_card;
    if (s_.runtime->offload.cpu) all.push_back({.cards = false, .copies = copied, .buffer = {}});
    if (!has_cards()) return all;
    all.push_back({.offloads = false, .buffer = {}});
    if (never_splits_weights(s_)) return all;
    if (streams(s_)) {
      for (const Bytes buffer : buffers()) all.push_back({.buffer = buffer});
      return all;
    }
    if (!copied) all.push_back({.buffer = {}});
    if (prompts != PrefillOffload::on_cpu) all.push_back({.copies = true, .buffer = {}});
    return all;
  }

  /// Sizes of modules that may be streamed, ascending: one of them is the largest that is.
  std::vector<Bytes> buffers() const {
    std::vector<Bytes> sizes = units({.buffer = {}}).module;
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  Units units(const Regime& regime) const {
    Units units;
    std::map<std::array<Size, 5>, std::size_t> known;  // to whole bytes and FLOPs
    const CacheBytes& cache = uses_.caches();
    const auto add = [&](Size layer, Content content) {
      const LayerSpan piece{{layer, layer + 1}, content};
      const Bytes bytes = piece_bytes(*s_.weights, piece);
      const Bytes caches = content == Content::experts ? Bytes(0) : cache(layer, layer + 1);
      const Work work = work_of(s_, pass_, piece);
      const bool attends = content != Content::experts && !streams(s_);
      const Work attention = attends ? attention_work(s_, pass_, piece.layers) : Work{};
      const RealBytes moved = streamed_bytes(s_, pass_, piece);
      const std::array<Size, 5> alike{bytes.count(), caches.count(),
                                      whole(work.weight_bytes + work.cache_bytes),
                                      whole(work.flops), whole(moved)};
      const auto [at, fresh] = known.try_emplace(alike, units.classes.size());
      if (fresh) add_class(regime, units, bytes, work, attention, moved).cache = caches.count();
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

  /// The embedding and the head. Tied ones stay together, unless the runtime keeps the embedding in
  /// host memory: then the head on a card is a copy.
  void add_ends(const Regime& regime, Units& units) const {
    const QuantisedModel& w = *s_.weights;
    const auto add = [&](Size unit, Bytes bytes, const Work& work, RealBytes moved) -> UnitClass& {
      UnitClass& u = add_class(regime, units, bytes, work, {}, moved);
      u.count = 1;
      units.members.back().push_back({unit});
      if (regime.cards && streams(s_)) return u;
      // Off the cards the head is multiplied after the layers, not with them.
      const double after = seconds(work, other_rate(regime)).value();
      u.off_bytes = u.off_flops = u.hidden_off = 0;
      u.cpu_s += after;
      u.disk_s += after;
      return u;
    };
    const RealBytes embedding = w.embedding.real(), head(w.head_read);
    if (s_.runtime->offload.input_on_cpu) {
      add(head_unit, head_bytes(s_, false), head_work(s_, pass_), head).on_cpu =
          head_bytes(s_, true).count();
    } else if (w.model->profile.tied_head) {
      add(ends_unit, w.embedding + w.head, head_work(s_, pass_), embedding + head);
    } else {
      add(embedding_unit, w.embedding, {}, embedding);
      add(head_unit, w.head, head_work(s_, pass_), head);
    }
  }

  UnitClass& add_class(const Regime& regime, Units& units, Bytes bytes, const Work& work,
                       const Work& attention, RealBytes moved) const {
    UnitClass u;
    u.on_card = u.on_cpu = u.on_disk = bytes.count();
    const Throughput cpu = cpu_rate(s_);
    const Throughput rate = regime.cards || regime.copies ? first_card() : cpu;
    u.bytes = weight_read(work, rate).value();
    u.flops = work.flops.value();
    u.beside = cache_read(work, rate).value();
    u.off_bytes = u.bytes;
    u.off_flops = u.flops;
    u.hidden_off = u.beside;
    if (regime.copies) {
      u.cpu_s = ((work.weight_bytes + work.cache_bytes) / bus_rate(s_)).value();
    } else if (regime.cards && streams(s_)) {
      u.cpu_s = (moved / bus_rate(s_)).value();
    } else {
      const Work matrices = matrices_on_cpu(work, attention);
      u.off_bytes = weight_read(matrices, cpu).value();
      u.off_flops = matrices.flops.value();
      u.hidden_off = cache_read(matrices, cpu).value();
      u.cpu_s = cpu_attention_seconds(attention, cpu).value();
    }
    u.disk_s = u.cpu_s + ((streams(s_) ? moved : work.weight_bytes) / disk_rate(s_)).value();
    const bool passes = regime.cards && streams(s_);
    u.offloads = regime.offloads && (!passes || bytes <= regime.buffer);
    units.classes.push_back(u);
    units.members.emplace_back();
    units.module.push_back(bytes);
    return units.classes.back();
  }

  UnitProblem problem(const Regime& regime, const Units& units) const {
    UnitProblem p;
    p.units = units.classes;
    p.caches_on_first = regime.cards && streams(s_);
    const auto device = [](const Throughput& rate) {
      // An unknown rate is slow, but not infinitely so: prices must stay finite.
      return UnitDevice{0, 1.0 / std::max(rate.bytes_s.value(), 1.0),
                        1.0 / std::max(rate.flops_s.value(), 1.0)};
    };
    if (regime.cards)
      for (Size card = 0; card < card_count(s_); ++card) {
        p.cards.push_back(
            device(card_rate(s_, s_.machine->devices[static_cast<std::size_t>(card)])));
        p.cards.back().room = uses_.room(card, 1.0).count();
      }
    if (regime.cards) p.cards[0].room -= regime.buffer.count();
    const bool on_first = regime.copies || p.caches_on_first;
    p.offloaded = device(on_first ? first_card() : cpu_rate(s_));
    HostUse host = uses_.host(Plan{});
    if (s_.runtime->offload.input_on_cpu) host.weights += s_.weights->embedding;
    if (regime.offloads && !p.caches_on_first)
      host.activations = activations(s_, pass_tokens(s_), 1);
    p.offloaded.room = (ram_limit(uses_, Plan{}, 1.0) - host.total()).count();
    if (s_.runtime->offload.disk)
      p.disk_room = std::min(s_.disk_budget, s_.machine->host.disk).count();
    p.launches = launches(s_, pass_).value();
    p.launches_hide = s_.runtime->kernels.launch == Launch::overlapped && regime.cards;
    if (p.launches_hide) p.launches = std::max(0.0, p.launches - beside(regime));
    return p;
  }

  /// Seconds that every placement takes for keys and values that are copied for query heads.
  double beside(const Regime& regime) const {
    const Throughput rate = regime.cards ? first_card() : cpu_rate(s_);
    const RealBytes copied = work_of(s_, pass_, LayerSpan{{0, layers_}}).kv_repeat_bytes;
    return copied > RealBytes() ? (copied / std::max(rate.repeat_s, BytesPerSecond(1))).value() : 0;
  }

  void try_regime(const Regime& regime) {
    const Units units = this->units(regime);
    const UnitProblem p = problem(regime, units);
    if (p.offloaded.room < 0) return;
    const double repeats = beside(regime);
    const UnitPlacement found = search(p, best_ ? best_->step.value() - repeats : endless);
    take(units, found);
    bound_ = std::min(bound_, found.bound + repeats);
  }

  void take(const Units& units, const UnitPlacement& found) {
    if (found.on.empty()) return;
    std::vector<Spot> layer(static_cast<std::size_t>(layers_)), experts(layer.size());
    Spot embedding = on_cpu, head = on_cpu;
    const std::size_t cards = found.on.size() - 2;
    for (std::size_t i = 0; i < units.members.size(); ++i) {
      auto member = units.members[i].begin();
      for (const Spot spot : filling_order(cards)) {
        const std::size_t device = spot >= 0        ? static_cast<std::size_t>(spot)
                                   : spot == on_cpu ? cards
                                                    : cards + 1;
        for (Size n = 0; n < found.on[device][i]; ++n, ++member) {
          if (member->layer == embedding_unit || member->layer == ends_unit) embedding = spot;
          if (member->layer == head_unit || member->layer == ends_unit) head = spot;
          if (member->layer < 0) continue;
          const auto at = static_cast<std::size_t>(member->layer);
          if (member->content != Content::experts) layer[at] = spot;
          if (member->content != Content::dense) experts[at] = spot;
        }
      }
    }
    if (experts == layer) experts.clear();
    if (auto placed = placed_at(s_, assign(std::move(layer), std::move(experts), embedding, head)))
      take(std::move(*placed));
  }

  /// Streaming runtimes keep the first layers on the cards, others the last ones.
  std::vector<Spot> filling_order(std::size_t cards) const {
    std::vector<Spot> order;
    for (std::size_t card = 0; card < cards; ++card) order.push_back(static_cast<Spot>(card));
    if (streams(s_)) {
      order.push_back(on_cpu);
      order.push_back(on_disk);
    } else {
      order.insert(order.begin(), {on_cpu, on_disk});
    }
    return order;
  }

  void take(Placed placed) {
    // What is only rounding is no better: the runtime's own order stays.
    if (!best_ || placed.step.value() < best_->step.value() * (1 - 1e-12))
      best_ = std::move(placed);
  }

  const Scenario& s_;
  Uses uses_;
  Pass pass_;
  Size layers_;
  std::optional<Placed> best_;
  double bound_ = endless;
};

}  // namespace

std::optional<BestPlacement> best_placement(const Scenario& s) {
  const bool shared = card_count(s) > 0 && s.machine->devices[0].unified_memory;
  if (s.runtime->parallel.split == Split::tensors || shared || s.layer_split != nullptr ||
      evaluate(s).verdict == Verdict::refused)
    return std::nullopt;
  return Best(s).run();
}

}  // namespace headroom::model
