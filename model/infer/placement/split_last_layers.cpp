#include <algorithm>
#include <cmath>
#include <optional>

#include "model/infer/placement/setup.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

std::size_t index(Size i) { return static_cast<std::size_t>(i); }

class LastLayers {
 public:
  LastLayers(const Uses& uses, double factor)
      : uses_(uses),
        s_(uses.scenario()),
        given_(s_.layer_split),
        factor_(factor),
        layers_(std::ssize(s_.weights->layer)),
        tower_(tower_layers(*s_.weights->model)),
        counted_(counted_layers(*s_.weights->model).size()),
        devices_(std::min<Size>(card_count(s_), LayerSplit::max_cards)),
        shares_(devices_ > 1 ? card_shares(s_) : std::array<float, LayerSplit::max_cards>{1}) {
    for (Size card = 0; card < devices_; ++card) budgets_[index(card)] = uses.limit(card, factor_);
  }

  /// Another plan for one whose host memory does not suffice. Nothing if an option says how many
  /// layers are on cards, or there is none. If card and host have one memory, what the host needs
  /// besides layers has to be left there: one item less is on the card. Experts in host memory are
  /// mapped, and may exceed it. Their plan has whole layers instead, which go to disk.
  std::optional<Plan> with_less_in_host(const Plan& plan) const {
    if (devices_ == 0 || !plan.computes_on_card || given_ != nullptr) return std::nullopt;
    if (plan.partly_on_host && keeps_experts_in_host(s_)) return std::nullopt;
    if (plan.partly_on_host) return with(devices_, most(devices_));
    if (devices_ > 1 || !s_.machine->has_unified_memory()) return std::nullopt;
    const Size layers = counted_layers(*s_.weights->model, plan.on_cards);
    return with(1, layers + (plan.head == Where::card ? 1 : 0) - 1);
  }

  Plan plan() const {
    if (devices_ == 0) return on_cpu_only(uses_);
    if (given_ == nullptr) return fitted();
    const Size cards =
        given_->mode == SplitMode::none ? std::min(given_->main_card + 1, devices_) : devices_;
    if (given_->gpu_layers < 0) return with(cards, most(cards));
    Plan plan = with(cards, given_->gpu_layers);
    for (Size card = 0; card < plan.cards; ++card)
      if (const Bytes over = excess(plan, card); over > Bytes(0)) {
        plan.reason = Reason::gpu_memory;
        plan.short_bytes = std::max(plan.short_bytes, over);
      }
    return plan;
  }

 private:
  /// The engine's own fit, when no option places layers. It uses all cards, and experts are the
  /// first to leave them. Source: llama.cpp b10700 common/fit.cpp common_params_fit_impl. (Of a
  /// layer's experts it may leave parts on the card: not modelled.)
  Plan fitted() const {
    const Profile& profile = s_.weights->model->profile;
    const Range all{profile.first_decoding, profile.end_decoding};
    if (keeps_experts_in_host(s_)) return without_experts(with(devices_, most(devices_, all)), all);
    if (holds(devices_, counted_ + 1)) return with(devices_, counted_ + 1);
    const bool moves_experts = s_.runtime->offload.offloads_experts &&
                               profile.routing.experts > 0 && !s_.machine->has_unified_memory();
    if (!moves_experts) return with(devices_, most(devices_));
    if (devices_ > 1)
      if (auto plan = filled_forward()) return *std::move(plan);
    const auto whole = [&] { return with(devices_, counted_ + 1); };
    if (auto plan = fewest_moved(whole, all, {0, devices_})) return *std::move(plan);
    return without_experts(with(devices_, most(devices_, all)), all);
  }
  /// `plan` with the experts of `moved` in host memory.
  static Plan without_experts(Plan&& plan, Range moved) {
    plan.host_experts = plan.computes_on_card ? intersect(moved, plan.on_cards) : Range{0, 0};
    plan.partly_on_host = plan.host_experts.size() > 0;
    return std::move(plan);
  }
  /// As few of the experts of `movable` in host memory as `cards` have room for, the first layers'.
  /// `plan()`: with all experts on cards.
  template <class F>
  std::optional<Plan> fewest_moved(F&& plan, Range movable, Range cards) const {
    const auto moved = [&](Size n) {
      return without_experts(plan(), {movable.first, movable.first + n});
    };
    const auto overflows = [&](Size n) {
      if (devices_ > 1) return !holds(moved(n), cards);
      return uses_.alone(Uses::Alone::without_experts, n, [&] { return moved(n); }) > budget(0);
    };
    if (overflows(movable.size())) return std::nullopt;
    const auto search = [&](Size from) {
      return largest_near(from, -1, movable.size(), overflows);
    };
    const auto middle = [&] { return movable.size() / 2; };
    return moved(searched(Uses::Alone::without_experts, middle, search) + 1);
  }
  /// Whole layers fill the cards from the first, and the last card's experts make room there.
  std::optional<Plan> filled_forward() const {
    Plan plan = with(devices_, counted_ + 1);
    Size at = 0;
    for (Size card = 0; card + 1 < devices_; ++card) {
      at = layers_that_fit(s_, uses_.caches(), at, layers_, uses_.room(card, factor_));
      plan.layer_boundaries[index(card) + 1] = at;
    }
    plan.head_card = devices_ - 1;
    if (!holds(plan, {0, devices_ - 1})) return std::nullopt;
    const Profile& profile = s_.weights->model->profile;
    const Range movable{std::max(at, profile.first_decoding), profile.end_decoding};
    if (movable.size() <= 0) return std::nullopt;
    return fewest_moved([&] { return plan; }, movable, {devices_ - 1, devices_});
  }

  /// `gpu_layers` items over the first `cards` cards.
  Plan with(Size cards, Size gpu_layers) const {
    const Size items = std::min(gpu_layers, counted_ + 1);
    const bool output = s_.runtime->offload.output_first ? items > 0 : items > counted_;
    const Size layers = items - (output ? 1 : 0);
    const Size end = tower_ + counted_, first = end - layers;
    const Size start = first == tower_ ? 0 : first;
    Plan plan;
    if (items == 0) {
      plan = on_cpu_only(uses_);
      return plan;
    }
    std::array<float, LayerSplit::max_cards> shares{1};
    if (cards > 1) shares = shares_of(cards);
    plan.computes_on_card = true;
    plan.cards = cards;
    if (given_ != nullptr && given_->mode == SplitMode::none)
      plan.first_used_card = given_->main_card;
    plan.embedding = s_.runtime->offload.input_on_cpu ? Where::cpu : Where::card;
    const bool kept = given_ != nullptr && given_->on_host.output;
    plan.head = output && !kept ? Where::card : Where::cpu;
    plan.on_cards = {start, layers_};
    if (start > 0) plan.tower = {0, tower_};
    plan.on_cpu = {plan.tower.last, start};
    plan.on_disk = {start, start};
    plan.partly_on_host = given_ != nullptr && !given_->on_host.bytes_before.empty();
    plan.layer_boundaries.resize(index(cards) + 1);
    float sum = 0;
    Size at = 0;
    for (Size card = 0; card < cards; ++card) {
      plan.layer_boundaries[index(card)] = card == 0           ? start
                                           : first + at >= end ? layers_
                                                               : first + at;
      sum += shares[index(card)];
      const Size begin = at;
      at = card + 1 == cards ? items : std::max(at, first_at(sum, items));
      if (output && begin <= layers && layers < at) plan.head_card = card;
    }
    plan.layer_boundaries[index(cards)] = layers_;
    return plan;
  }
  /// The first item i with i / items >= sum, as single-precision numbers compare.
  static Size first_at(float sum, Size items) {
    const auto reaches = [&](Size i) {
      return static_cast<float>(i) / static_cast<float>(items) >= sum;
    };
    Size i = std::clamp<Size>(static_cast<Size>(sum * static_cast<float>(items)), 0, items);
    while (i > 0 && reaches(i - 1)) --i;
    while (i < items && !reaches(i)) ++i;
    return i;
  }
  std::array<float, LayerSplit::max_cards> shares_of(Size cards) const {
    if (given_ != nullptr && given_->mode == SplitMode::none) {
      std::array<float, LayerSplit::max_cards> one{};
      one[index(given_->main_card)] = 1;
      return one;
    }
    auto shares = shares_;
    float sum = 0;
    for (Size card = 0; card < cards; ++card) sum += shares[index(card)];
    for (Size card = 0; card < cards; ++card) shares[index(card)] /= sum;
    return shares;
  }

  Bytes budget(Size card) const { return budgets_[index(card)]; }
  Bytes excess(const Plan& plan, Size card) const {
    return uses_.card(plan, card).total() - budget(card);
  }
  /// True if `cards` have room for what `plan` puts there.
  bool holds(const Plan& plan, Range cards) const {
    for (Size card = cards.first; card < cards.last; ++card)
      if (excess(plan, card) > Bytes(0)) return false;
    return true;
  }
  /// True if the first `cards` cards have room for so many items, at least one.
  bool holds(Size cards, Size gpu_layers) const {
    if (cards == 1 && !shares_rows(s_))
      return uses_.alone(Uses::Alone::items, gpu_layers, [&] { return with(1, gpu_layers); }) <=
             budget(0);
    return holds(with(cards, gpu_layers), {0, cards});
  }
  /// Layers that all rooms together would hold, were all layers alike: where to start looking.
  Size guess(Size cards, Range moved) const {
    double room = 0;
    for (Size card = 0; card < cards; ++card)
      room += std::max(0.0, uses_.room(card, factor_).real().value());
    const Bytes all = layer_bytes(*s_.weights, {0, layers_}) +
                      (caches_on_cards(s_) ? uses_.all_caches() : Bytes(0));
    const double here = all.real().value() - between(s_.weights->read_routed, moved);
    const double share = room / std::max(1.0, here);
    return share >= 1 ? counted_ : static_cast<Size>(share * static_cast<double>(counted_));
  }
  /// The n that `search(from)` finds, first from `guess()`. The bytes of one card only grow with n,
  /// so any start gives the same n: the next search starts at the last one.
  template <class G, class F>
  Size searched(Uses::Alone kind, G&& guess, F&& search) const {
    if (devices_ > 1 || shares_rows(s_)) return search(guess());
    Size& last = uses_.nearest(kind, factor_);
    last = search(last >= 0 ? last : guess());
    return last;
  }
  /// As many layers as fit. Each card's bytes grow with their number, except for the rounding of
  /// shares. Rounding moves a card's end by less than one layer for each card.
  /// `moved`: layers whose experts are in host memory.
  Size most(Size cards, Range moved = {0, 0}) const {
    const auto fits = [&](Size n) {
      if (moved.size() == 0) return holds(cards, n);
      const auto dense = [&] { return without_experts(with(cards, n), moved); };
      if (cards > 1) return holds(dense(), {0, cards});
      return uses_.alone(Uses::Alone::dense_items, n, dense) <= budget(0);
    };
    const auto search = [&](Size from) { return largest_near(from, 0, counted_ + 2, fits); };
    const auto guessed = [&] { return guess(cards, moved); };
    const auto kind = moved.size() == 0 ? Uses::Alone::items : Uses::Alone::dense_items;
    const Size low = searched(kind, guessed, search);
    for (Size more = std::min(low + cards, counted_ + 1); more > low + 1; --more)
      if (fits(more)) return more;
    return low;
  }

  const Uses& uses_;
  const Scenario& s_;
  const LayerSplit* given_;
  double factor_;
  Size layers_;
  Size tower_, counted_;  ///< layers of the tower before those that --gpu-layers counts, and these
  Size devices_;
  std::array<float, LayerSplit::max_cards> shares_;
  std::array<Bytes, LayerSplit::max_cards> budgets_;  ///< limit of each card at the factor
};

}  // namespace

std::array<float, LayerSplit::max_cards> card_shares(const Scenario& s) {
  std::array<float, LayerSplit::max_cards> shares{};
  if (s.layer_split != nullptr) shares = s.layer_split->shares;
  const Size cards = std::min<Size>(card_count(s), LayerSplit::max_cards);
  float sum = 0;
  for (const float share : shares) sum += share;
  for (Size card = 0; card < cards && sum == 0; ++card)
    shares[index(card)] = static_cast<float>(card_budget(s, index(card)).count());
  sum = 0;
  for (const float share : shares) sum += share;
  for (float& share : shares) share /= sum > 0 ? sum : 1;
  return shares;
}

Plan split_last_layers(const Uses& uses, double factor) {
  const LastLayers last(uses, factor);
  Plan plan = last.plan();
  if (!plan.feasible()) return plan;
  place_in_host(uses, plan, factor);
  while (plan.reason == Reason::ram) {
    auto less = last.with_less_in_host(plan);
    if (!less) break;
    plan = *std::move(less);
    place_in_host(uses, plan, factor);
  }
  return plan;
}

}  // namespace headroom::model
