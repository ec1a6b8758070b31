// The orders in which engines fill cards, for any runtime's rules of time and memory.
#include <algorithm>

#include "model/answer/placement/best_placement.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/timeline/passes.hpp"

namespace headroom::model {
namespace {

class Filler {
 public:
  Filler(const Scenario& s, Order order)
      : s_(s), order_(order), layers_(std::ssize(s.weights->layer)), uses_(s) {}

  std::optional<Placed> run() const {
    // The head is one more, which comes last or first.
    const bool head_first = order_ == Order::last_layers && s_.runtime->offload.output_first;
    for (Size items = card_count(s_) > 0 ? layers_ + 1 : 0; items >= 0; --items) {
      const bool head = head_first ? items > 0 : items > layers_;
      if (auto placed = with(items - (head ? 1 : 0), head)) return placed;
    }
    return std::nullopt;
  }

 private:
  bool tied() const {
    return s_.weights->model->profile.tied_head && !s_.runtime->offload.input_on_cpu;
  }
  /// True if `layer` is off the cards when `on_cards` layers are on them.
  bool offloaded(Size layer, Size on_cards) const {
    return order_ == Order::first_layers ? layer >= on_cards : layer < layers_ - on_cards;
  }

  /// The fewest layers on disk with which the rest fits in host memory.
  std::optional<Placed> with(Size on_cards, bool head) const {
    auto spots = on_the_cards(on_cards, head);
    if (!spots) return std::nullopt;
    const Size off = layers_ - on_cards;
    Size low = 0, high = s_.runtime->offload.disk ? off : 0;
    std::optional<Placed> best;
    while (low <= high) {
      const Size on_disk_layers = (low + high) / 2;
      auto placed = placed_at(s_, completed(*spots, on_cards, on_disk_layers));
      if (placed) {
        best = std::move(placed);
        high = on_disk_layers - 1;
      } else {
        low = on_disk_layers + 1;
      }
    }
    return best;
  }

  struct Spots {
    std::vector<Spot> layer;
    Spot embedding = on_cpu, head = on_cpu;
  };

  /// Cards filled one after the other; nothing where they do not hold so many.
  std::optional<Spots> on_the_cards(Size on_cards, bool head) const {
    Spots spots{std::vector<Spot>(static_cast<std::size_t>(layers_), on_cpu)};
    if (card_count(s_) == 0) return spots;
    if (on_cards == 0 && !head && s_.runtime->offload.cpu) return spots;
    const QuantisedModel& w = *s_.weights;
    Bytes buffer, caches, first;
    for (Size layer = 0; layer < layers_; ++layer)
      if (offloaded(layer, on_cards)) {
        buffer = std::max(buffer, w.layer[static_cast<std::size_t>(layer)]);
        caches += uses_.caches()(layer, layer + 1);
      }
    spots.embedding = s_.runtime->offload.input_on_cpu ? on_cpu : Spot{0};
    if (spots.embedding == 0) first = w.embedding;
    const bool head_on_cards = head || tied();
    if (tied()) first += w.head;
    if (!head_on_cards) buffer = std::max(buffer, head_bytes(s_, false));
    if (s_.runtime->offload.mode == Offload::stream) first += buffer + caches;
    Spot card = 0;
    Bytes left = uses_.room(0, 1.0) - first;
    if (left < Bytes(0)) return std::nullopt;
    const auto put = [&](Bytes bytes) {
      while (bytes > left) {
        if (++card >= card_count(s_)) return false;
        left = uses_.room(card, 1.0);
      }
      left -= bytes;
      return true;
    };
    for (Size layer = 0; layer < layers_; ++layer) {
      if (offloaded(layer, on_cards)) continue;
      if (!put(layer_bytes(w, {layer, layer + 1}) + uses_.caches()(layer, layer + 1)))
        return std::nullopt;
      spots.layer[static_cast<std::size_t>(layer)] = card;
    }
    if (tied())
      spots.head = 0;
    else if (head_on_cards && put(head_bytes(s_, false)))
      spots.head = card;
    else if (head_on_cards)
      return std::nullopt;
    return spots;
  }

  /// The last of the offloaded layers on disk; a head that is not on a card follows them.
  Assignment completed(Spots spots, Size on_cards, Size on_disk_layers) const {
    Size left = on_disk_layers;
    for (Size layer = layers_; layer-- > 0 && left > 0;)
      if (offloaded(layer, on_cards)) {
        spots.layer[static_cast<std::size_t>(layer)] = on_disk;
        --left;
      }
    if (spots.head == on_cpu && on_disk_layers > 0 && !tied() &&
        s_.runtime->offload.mode == Offload::stream)
      spots.head = on_disk;
    return assign(std::move(spots.layer), {}, spots.embedding, spots.head);
  }

  const Scenario& s_;
  Order order_;
  Size layers_;
  Uses uses_;
};

}  // namespace

std::optional<Placed> placed_at(const Scenario& s, Assignment assignment) {
  Placed placed{std::move(assignment), {}};
  Scenario assigned = s;
  assigned.assignment = &placed.assignment;
  const Plan plan = place(assigned, 1.0);
  if (!plan.feasible()) return std::nullopt;
  placed.step = Seconds(step(assigned, plan).total);
  return placed;
}

std::optional<Placed> in_order(const Scenario& s, Order order) { return Filler(s, order).run(); }

}  // namespace headroom::model
