#include <algorithm>
#include <array>
#include <optional>

#include "model/memory/kv_cache.hpp"
#include "model/placement/split.hpp"

namespace headroom::model {
namespace {

class LayerFill {
 public:
  LayerFill(const Uses& uses, double factor)
      : uses_(uses),
        s_(uses.scenario()),
        w_(*s_.weights),
        factor_(factor),
        layers_(std::ssize(w_.layer)),
        cards_(card_count(s_)) {
    if (!caches_on_cards(s_)) none_.emplace(s_, CachedTokens{});
    for (Size card = 0; card < cards_; ++card) room_[index(card)] = uses.room(card, factor).count();
  }

  Plan plan() const {
    Plan plan = first_layers_on_cards();
    if (plan.feasible()) place_in_host(uses_, plan, factor_);
    if (!whole_only(s_) || is_whole(plan)) return plan;
    Plan cpu = on_cpu_only(s_);
    if (cpu.feasible()) place_in_host(uses_, cpu, factor_);
    if (cpu.feasible() && is_whole(cpu)) return cpu;
    if (plan.feasible()) {
      plan.reason = Reason::no_offload;
      plan.short_bytes = w_.total - layer_bytes(w_, plan.on_cards);
    }
    return plan;
  }

 private:
  static std::size_t index(Size i) { return static_cast<std::size_t>(i); }

  /// All weights on cards, or all in host memory.
  static bool is_whole(const Plan& plan) {
    if (plan.on_disk.size() > 0) return false;
    return plan.on_cards.size() > 0 ? plan.on_cpu.size() == 0 && plan.head == Where::card
                                    : !plan.computes_on_card;
  }
  Bytes room(Size card) const { return Bytes(room_[index(card)]); }
  const CacheBytes& caches() const { return none_ ? *none_ : uses_.caches(); }
  Bytes held(Size first, Size last) const {
    return layer_bytes(w_, {first, last}) + caches()(first, last);
  }
  /// Cards filled from layer 0 on, the first holding `extra` beside. Returns the layer reached and
  /// notes cuts and cards in `plan`.
  Size fill_forward(Bytes extra, Plan& plan, Bytes& left) const {
    Size at = 0;
    plan.cut[0] = 0;
    plan.cards = 0;
    for (Size card = 0; card < cards_ && at < layers_; ++card) {
      left = room(card) - (card == 0 ? extra : Bytes(0));
      const Size next = layers_that_fit(s_, caches(), at, left);
      left -= held(at, next);
      if (next > at || card == 0) plan.cards = card + 1;
      at = next;
      plan.cut[index(card) + 1] = at;
    }
    return at;
  }

  /// Weights streamed through the first card: the first layers stay, the rest passes through.
  Plan first_layers_on_cards() const {
    if (cards_ == 0) return on_cpu_only(s_);
    Plan plan;
    plan.computes_on_card = true;
    plan.embedding = s_.runtime->input_on_cpu ? Where::cpu : Where::card;
    Bytes first = s_.runtime->input_on_cpu ? Bytes(0) : w_.embedding, left;
    if (tied_on_card(plan)) {
      first += w_.head;
      plan.head_card = 0;
    }
    if (room(0) >= first && fill_forward(first, plan, left) == layers_) {
      // The head goes where the last layers are, or alone on the next card.
      const Bytes head = tied_on_card(plan) ? Bytes(0) : head_bytes(s_, false);
      bool placed = head <= left;
      if (!placed && plan.cards < cards_ && head <= room(plan.cards)) {
        plan.cut[index(++plan.cards)] = layers_;
        placed = true;
      }
      if (placed) {
        plan.on_cards = {0, layers_};
        plan.on_cpu = plan.on_disk = {layers_, layers_};
        return plan;
      }
    }
    return stream(plan, first);
  }

  /// A tied head is the embedding's own tensor: both are on the first card, which is where
  /// accelerate pulls what is tied to the embedding.
  bool tied_on_card(const Plan& plan) const {
    return w_.model->profile.tied_head && plan.embedding == Where::card;
  }

  /// Offloaded layers run on the first card: their caches live there, and weights pass through a
  /// buffer as large as the largest of them. Keeping m layers needs room for the caches of the
  /// others and for the largest of them, which only grows as m falls, so the most that can stay is
  /// reached from above. A tied head stays with the embedding, any other comes after the last
  /// layer.
  Plan stream(Plan& plan, Bytes first) const {
    const bool tied = tied_on_card(plan);
    const Bytes head = tied ? Bytes(0) : head_bytes(s_, false);
    const auto buffer = [&](Size kept) { return std::max(head, w_.largest_from[index(kept)]); };
    const auto beside = [&](Size kept) { return buffer(kept) + first + caches()(kept, layers_); };
    Bytes left;
    Size kept = layers_;
    for (Size reached = 0; kept > 0; kept = reached) {
      reached = std::min(kept, fill_forward(beside(kept), plan, left));
      if (reached == kept) break;
    }
    if (room(0) < beside(kept)) return on_cpu_only(s_);
    if (kept == 0) {
      plan.cards = 1;
      plan.cut[0] = plan.cut[1] = 0;
    }
    for (Size card = 0; card <= plan.cards; ++card)
      plan.cut[index(card)] = std::min(plan.cut[index(card)], kept);
    while (plan.cards > 1 && plan.cut[index(plan.cards) - 1] == kept) --plan.cards;
    plan.on_cards = {0, kept};
    plan.on_cpu = {kept, layers_};
    plan.on_disk = {layers_, layers_};
    plan.head = tied ? Where::card : Where::cpu;
    plan.stage_buffer = buffer(kept);
    return plan;
  }

  const Uses& uses_;
  const Scenario& s_;
  const Weights& w_;
  double factor_;
  Size layers_, cards_;
  std::array<Size, Plan::most_cards> room_;  ///< bytes, of each card
  std::optional<CacheBytes> none_;           ///< where caches stay in host memory
};

}  // namespace

Plan split_layers(const Uses& uses, double memory_factor) {
  return LayerFill(uses, memory_factor).plan();
}

}  // namespace headroom::model
