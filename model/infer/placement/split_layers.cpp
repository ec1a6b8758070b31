#include <algorithm>
#include <limits>
#include <optional>

#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/memory/rounding.hpp"
#include "model/infer/placement/setup.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/verdict.hpp"

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
        cards_(card_count(s_)),
        tied_(w_.model->profile.tied_head && !s_.runtime->offload.input_on_cpu),
        undivided_(never_splits_weights(s_)),
        first_(s_.runtime->offload.input_on_cpu ? Bytes(0)
                                                : w_.embedding + (tied_ ? w_.head : Bytes(0))),
        last_(tied_ ? Bytes(0) : head_bytes(s_, false)) {
    if (!caches_on_cards(s_)) none_.emplace(s_, CachedTokens{});
    room_.resize(index(cards_));
    for (Size card = 0; card < cards_; ++card) room_[index(card)] = uses.room(card, factor).count();
    if (undivided_) limit_weights();
  }

  Plan plan() const {
    Plan plan;
    if (!all_on_cards(plan)) {
      if (s_.runtime->offload.mode == Offload::none) {
        plan = without_offload();  // one variable is returned throughout, and so never copied
        return plan;
      }
      stream(plan);
    }
    if (plan.feasible()) place_in_host(uses_, plan, factor_);
    if (!undivided_ || is_whole(plan)) return plan;
    // Neither more host memory nor more disk takes what is divided, and nothing falls back to the
    // CPU: transformers 5.24 quantizer_bnb_4bit.py, validate_environment.
    if (plan.feasible() || may_use_cards() || plan.reason == Reason::disk) {
      plan.reason = Reason::no_offload;
      plan.short_bytes = w_.total - layer_bytes(w_, plan.on_cards);
    }
    return plan;
  }

  /// Takes what cards have too much under `plan` from their rooms; false if that is nothing. Rooms
  /// count the unused ends of the allocator's blocks as a mean share of the weights. A plan stays
  /// until a room no longer has what the plan puts there, so all steps up to there are one.
  bool shrink_rooms(const Plan& plan) {
    const WeightPolicy& weights = s_.runtime->weights;
    if (weights.blocks == AllocatorBlocks::exact && !weights.fuses_at_start) return false;
    boost::container::small_vector<Size, 16> over(index(plan.cards));
    Size steps = std::numeric_limits<Size>::max();
    for (Size card = 0; card < plan.cards; ++card) {
      Size& own = over[index(card)];
      own = std::max<Size>(0, over_budget(uses_, plan, card, factor_).count());
      if (own == 0) continue;
      const Bytes left = room(card) - filled(plan, card);
      steps = std::min(steps, std::max<Size>(0, left.count()) / own + 1);
    }
    if (steps == std::numeric_limits<Size>::max()) return false;
    for (Size card = 0; card < plan.cards; ++card) room_[index(card)] -= steps * over[index(card)];
    return true;
  }

 private:
  static std::size_t index(Size i) { return static_cast<std::size_t>(i); }

  /// All weights on cards; without cards, all in host memory.
  bool is_whole(const Plan& plan) const {
    if (plan.on_disk.size() > 0) return false;
    if (!may_use_cards()) return !plan.computes_on_card;
    return plan.computes_on_card && plan.on_cpu.size() == 0 && plan.head == Where::card;
  }
  bool may_use_cards() const { return cards_ > 0 && s_.gpu_budget > Bytes(0); }
  /// The share of each card's budget, after the driver's context, that weights take at most.
  void limit_weights() {
    const double share = s_.runtime->weights.whole_share;
    const Setup& setup = uses_.setup();
    for (Size card = 0; card < cards_; ++card)
      most_.push_back(share * real_count(setup.budget(s_, card) - setup.card(card).context));
  }
  bool holds_weights(Size card, Bytes weights) const {
    return most_.empty() || real_count(weights) <= most_[index(card)];
  }
  Bytes room(Size card) const { return Bytes(room_[index(card)]); }
  const CacheBytes& caches() const { return none_ ? *none_ : uses_.caches(); }
  Bytes all_caches() const { return none_ ? Bytes(0) : uses_.all_caches(); }
  Bytes held(Size first, Size last) const {
    return layer_bytes(w_, {first, last}) + caches()(first, last);
  }
  /// Bytes of the room of a card that `plan` takes.
  Bytes filled(const Plan& plan, Size card) const {
    const Range own = plan.layers_of(card);
    Bytes bytes = held(own.first, own.last) + (plan.has_head(card) ? last_ : Bytes(0));
    if (card > 0) return bytes;
    if (plan.streaming_buffer > Bytes(0)) bytes += passing_through(plan.on_cards.last);
    return bytes + first_;
  }
  /// The largest part that passes through the first card where `kept` layers stay.
  Bytes buffer(Size kept) const { return std::max(last_, w_.largest_from[index(kept)]); }
  /// Bytes there for the layers that do not stay: the buffer and their caches.
  Bytes passing_through(Size kept) const { return buffer(kept) + caches()(kept, layers_); }
  /// Layers [0, end) on cards, filled from the first card, which also has `extra`. Returns the
  /// layer reached and notes cuts and cards in `plan`.
  Size fill_forward(Size end, Bytes extra, Plan& plan) const {
    Size at = 0;
    plan.layer_boundaries.assign(index(cards_) + 1, 0);
    plan.cards = 1;
    for (Size card = 0; card < cards_ && at < end; ++card) {
      const Bytes left = room(card) - (card == 0 ? extra : Bytes(0));
      Size next = layers_that_fit(s_, caches(), at, end, left);
      const Bytes before = card == 0 ? first_ : Bytes(0);
      while (next > at && !holds_weights(card, before + layer_bytes(w_, {at, next}))) --next;
      if (next > at) plan.cards = card + 1;
      at = next;
      plan.layer_boundaries[index(card) + 1] = at;
    }
    return at;
  }

  /// True if everything fits on cards; writes the plan.
  bool all_on_cards(Plan& plan) const {
    if (cards_ == 0 || room(0) < first_ || !holds_weights(0, first_)) return false;
    if (cards_ == 1) return all_on_first(plan);
    if (fill_forward(layers_, first_, plan) < layers_) return false;
    // The head goes where the last layers are, or alone on the next card.
    const Size card = plan.cards - 1;
    const Bytes first = card == 0 ? first_ : Bytes(0);
    const Range own{plan.layer_boundaries[index(card)], layers_};
    if (last_ > room(card) - first - held(own.first, own.last) ||
        !holds_weights(card, first + layer_bytes(w_, own) + last_)) {
      if (plan.cards == cards_ || last_ > room(plan.cards) || !holds_weights(plan.cards, last_))
        return false;
      plan.layer_boundaries[index(++plan.cards)] = layers_;
    }
    all_on(plan);
    return true;
  }

  /// Likewise, of a machine with one card.
  bool all_on_first(Plan& plan) const {
    const Bytes weights = first_ + w_.layers_before.back() + last_;
    if (weights + all_caches() > room(0) || !holds_weights(0, weights)) return false;
    put_on_first(plan);
    return true;
  }
  void put_on_first(Plan& plan) const {
    plan.cards = 1;
    plan.layer_boundaries = {0, layers_};
    all_on(plan);
  }

  /// Bytes by which the cards are larger, so that they have `missing` more room.
  Bytes short_by(Bytes missing) const {
    return rounded_up(std::max(1.0, real_count(missing)) * uses_.setup().taken());
  }

  /// The CPU has all weights, or the cards, which do not hold all, are short of memory.
  Plan without_offload() const {
    Plan plan = on_cpu_only(uses_);
    if (plan.feasible()) place_in_host(uses_, plan, factor_);
    if (plan.reason != Reason::gpu_memory) return plan;
    Bytes missing = first_ + last_ + w_.layers_before.back() + all_caches();
    for (Size card = 0; card < cards_; ++card) missing -= uses_.room(card, factor_);
    plan.short_bytes = short_by(missing);
    if (cards_ > 1) return plan;
    Plan all;
    put_on_first(all);
    plan.short_bytes = std::max(plan.short_bytes, over_budget(uses_, all, 0, factor_));
    return plan;
  }

  void all_on(Plan& plan) const {
    starts(plan);
    plan.on_cards = {0, layers_};
    plan.on_cpu = plan.on_disk = {layers_, layers_};
  }

  /// Common part of plans with layers on cards.
  void starts(Plan& plan) const {
    plan.computes_on_card = true;
    plan.embedding = s_.runtime->offload.input_on_cpu ? Where::cpu : Where::card;
    if (tied_) plan.head_card = 0;
  }

  /// An upper bound of the layers that can stay: as many as fit in all rooms together, with all
  /// caches and the smallest buffer.
  Size max_kept_layers() const {
    Bytes left = Bytes(0) - first_ - last_ - all_caches();
    for (Size card = 0; card < cards_; ++card) left += std::max(Bytes(0), room(card));
    const auto fit = std::ranges::upper_bound(w_.layers_before, left) - w_.layers_before.begin();
    return std::max<Size>(0, fit - 1);
  }

  /// Weights are streamed through the first card: the first layers stay, and the others pass
  /// through. Offloaded layers run on the first card. Their caches are there, and weights pass
  /// through a buffer with the size of the largest layer. Keeping m layers needs room for the
  /// caches of the others and for the largest of them. This room only grows as m falls, so the
  /// search goes downwards to the most layers that can stay. A tied head stays with the embedding,
  /// any other comes after the last layer.
  void stream(Plan& plan) const {
    Size kept = cards_ > 0 ? max_kept_layers() : 0;
    Bytes reserved = first_ + passing_through(kept);
    while (kept > 0) {
      const Size reached = fill_forward(kept, reserved, plan);
      if (reached == kept) break;
      kept = reached;
      reserved = first_ + passing_through(kept);
    }
    if (cards_ == 0 || room(0) < reserved) {
      plan = on_cpu_only(uses_);
      if (cards_ > 0 && plan.reason == Reason::gpu_memory)
        plan.short_bytes = short_by(reserved - room(0));
      return;
    }
    if (kept == 0) {
      plan.cards = 1;
      plan.layer_boundaries.assign(2, 0);
    }
    starts(plan);
    plan.on_cards = {0, kept};
    plan.on_cpu = {kept, layers_};
    plan.on_disk = {layers_, layers_};
    plan.head = tied_ ? Where::card : Where::cpu;
    plan.streaming_buffer = buffer(kept);
  }

  const Uses& uses_;
  const Scenario& s_;
  const QuantisedModel& w_;
  double factor_;
  Size layers_, cards_;
  /// A tied head is the embedding's own tensor: both are on the first card, which is where
  /// accelerate pulls what is tied to the embedding.
  bool tied_;
  bool undivided_;      ///< never_splits_weights()
  Bytes first_, last_;  ///< on the first card in addition to layers; bytes after the last layer
  boost::container::small_vector<Size, 16> room_;  ///< bytes, of each card
  std::vector<double> most_;        ///< bytes of weights on each card; empty: as many as have room
  std::optional<CacheBytes> none_;  ///< used if caches stay in host memory
};

}  // namespace

Plan split_layers(const Uses& uses, double memory_factor) {
  LayerFill fill(uses, memory_factor);
  Plan plan = fill.plan();
  while (plan.feasible() && fill.shrink_rooms(plan)) plan = fill.plan();
  return plan;
}

}  // namespace headroom::model
