#include "model/answer/placement/best_placement.hpp"

#include <algorithm>

#include "model/answer/placement/units.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

class Best {
 public:
  explicit Best(const Scenario& s) : s_(s), builder_(s) {}

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

  std::vector<Regime> regimes() const {
    std::vector<Regime> all;
    const PrefillOffload prompts =
        streams(s_) ? PrefillOffload::on_cpu : host_prompts(s_, builder_.pass().tokens);
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
    std::vector<Bytes> sizes = builder_.units({.buffer = {}}).module;
    std::sort(sizes.begin(), sizes.end());
    sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
    return sizes;
  }

  void try_regime(const Regime& regime) {
    const Units units = builder_.units(regime);
    UnitProblem p = builder_.problem(regime, units);
    if (p.host_room < 0) return;
    const auto reached = [&] { return best_ ? best_->step.value() : endless; };
    const UnitPlacement found = search(p, reached());
    take(units, found);
    bound_ = std::min(bound_, found.bound);
    if (p.cpu_handoff <= 0) return;
    // The order of layers may add handoffs to those counted. So the best without them is tried too.
    p.cpu_handoff = 0;
    take(units, search(p, reached()));
  }

  void take(const Units& units, const UnitPlacement& found) {
    if (found.on.empty()) return;
    std::vector<Spot> layer(static_cast<std::size_t>(builder_.layers())), experts(layer.size());
    Spot embedding = on_cpu, head = on_cpu;
    const std::size_t cards = found.on.size() - 2;
    for (std::size_t i = 0; i < units.members.size(); ++i) {
      auto member = units.members[i].begin();
      for (const Spot spot : filling_order(cards)) {
        const std::size_t device = spot >= 0        ? static_cast<std::size_t>(spot)
                                   : spot == on_cpu ? cards
                                                    : cards + 1;
        for (Size n = 0; n < found.on[device][i]; ++n, ++member) {
          if (member->layer == embedding_unit || member->layer == embedding_and_head_unit)
            embedding = spot;
          if (member->layer == head_unit || member->layer == embedding_and_head_unit) head = spot;
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
    // A gain within rounding is no gain: the runtime's own order stays.
    if (!best_ || placed.step.value() < best_->step.value() * (1 - 1e-12))
      best_ = std::move(placed);
  }

  const Scenario& s_;
  UnitBuilder builder_;
  std::optional<Placed> best_;
  double bound_ = endless;
};

}  // namespace

std::optional<BestPlacement> best_placement(const Scenario& s) {
  if (s.runtime->parallel.split == Split::tensors || s.machine->has_unified_memory() ||
      s.layer_split != nullptr || evaluate(s).verdict == Verdict::refused)
    return std::nullopt;
  return Best(s).run();
}

}  // namespace headroom::model
