// The packing of units on cards.
#include "model/answer/placement/parts.hpp"

#include <algorithm>
#include <functional>
#include <string>
#include <unordered_map>

namespace headroom::model {
namespace {

/// Steps of an exact search before it gives up.
constexpr int packing_steps = 20000;

}  // namespace

Cards::Cards(const UnitProblem& p) : p_(p) {
  const Measure reading = [](const UnitSeconds& u) { return u.read + u.between; };
  const Measure computing = [](const UnitSeconds& u) { return u.compute + u.between; };
  order_ = ordered(p.cards.size(), [&](std::size_t c) {
    double all = 0;
    for (const UnitClass& u : p.units) all += reading(u.on[c]);
    return -all;
  });
  for (const UnitClass& u : p.units) {
    size_.push_back(u.on_card + u.cache);
    const bool busy = std::ranges::any_of(u.on, [](const auto& card) { return card.total() > 0; });
    busy_size_.push_back(busy ? size_.back() : 0);
  }
  read_ = side(reading);
  compute_ = side([](const UnitSeconds& u) { return u.compute; });
  between_ = side([](const UnitSeconds& u) { return u.between; });
  bool reads = true, computes = true;
  for (const UnitClass& u : p.units)
    for (const UnitSeconds& card : u.on) {
      reads = reads && card.read >= card.compute;
      computes = computes && card.read <= card.compute;
    }
  // Cards are packed in one order, which has to be every unit's.
  one_sided_ = (reads && slows_down(reading)) || (computes && slows_down(computing));
}

/// True if each card of the order is as slow as the card before it, or slower, for every unit.
bool Cards::slows_down(Measure of) const {
  for (const UnitClass& u : p_.units)
    for (std::size_t k = 1; k < order_.size(); ++k)
      if (of(u.on[order_[k]]) < of(u.on[order_[k - 1]]) * (1 - 1e-12)) return false;
  return true;
}

// Cards differ in the rate of each operation. A unit of several operations has no ratio of seconds
// between two cards that other units share. The least ratio of all units keeps the bound valid.
Cards::Side Cards::side(Measure of) const {
  Side side;
  for (const UnitClass& u : p_.units)
    side.work.push_back(u.on.empty() ? 0 : of(u.on[order_.front()]));
  side.idle = std::ranges::all_of(side.work, [](double each) { return each == 0; });
  for (const std::size_t card : order_) {
    double slower = endless;
    for (std::size_t i = 0; i < p_.units.size(); ++i)
      if (side.work[i] > 0) slower = std::min(slower, of(p_.units[i].on[card]) / side.work[i]);
    side.slower.push_back(slower);
  }
  side.classes =
      ordered(p_.units.size(), [&](std::size_t i) { return per_byte(side.work[i], size_[i]); });
  side.cards = ordered(order_.size(), [&](std::size_t k) { return -side.slower[k]; });
  return side;
}

/// The densest classes on the fastest cards: the least sum of work times seconds there is.
double Cards::fractional(const Side& side, const std::vector<Size>& rooms, const Counts& units,
                         std::size_t from) const {
  if (side.idle) return 0;
  double seconds = 0, room = 0;
  std::size_t next = 0, card = 0;
  const auto advance = [&] {
    while (next < side.cards.size() && side.cards[next] < from) ++next;
    if (next == side.cards.size()) return false;
    card = side.cards[next++];
    room = real(rooms[card]);
    return true;
  };
  bool any = advance();
  for (const std::size_t i : side.classes) {
    double left = real(units[i]);
    while (left > 0) {
      if (!any) return endless;
      const double fits = size_[i] > 0 ? std::min(left, room / real(size_[i])) : left;
      seconds += fits * side.work[i] * side.slower[card];
      room -= fits * real(size_[i]);
      left -= fits;
      // Less than a millionth of a unit is rounding.
      if (left > 1e-6)
        any = advance();
      else
        left = 0;
    }
  }
  return seconds;
}

/// All that is read, or what is computed and, as if by other units, what is between products.
double Cards::fractional(const std::vector<Size>& rooms, const Counts& units,
                         std::size_t from) const {
  return std::max(
      fractional(read_, rooms, units, from),
      fractional(compute_, rooms, units, from) + fractional(between_, rooms, units, from));
}

void Cards::leave(const Counts& off, Left& left) const {
  left.units.clear();
  left.busy_bytes = 0;
  Size caches = 0;
  for (std::size_t i = 0; i < off.size(); ++i) {
    const Size units = p_.units[i].count - off[i];
    left.units.push_back(units);
    left.busy_bytes += units * busy_size_[i];
    caches += off[i] * p_.units[i].cache;
  }
  left.fits = true;
  left.rooms.clear();
  for (const std::size_t card : order_) {
    const Size room = p_.cards[card] - (card == 0 && p_.caches_on_first ? caches : 0);
    if (card == 0 && p_.caches_on_first) left.fits = room >= 0;
    left.rooms.push_back(std::max<Size>(0, room));
  }
  left.largest_rooms = left.rooms;
  std::ranges::sort(left.largest_rooms, std::greater<>());
}

double Cards::bound(const Left& left) const {
  return left.fits ? fractional(left.rooms, left.units, 0) : endless;
}

/// Cards that hold the units which take time, if each were filled to the last byte.
Size Cards::fewest_cards(const Left& left) const {
  Size bytes = left.busy_bytes, cards = 0;
  for (auto room = left.largest_rooms.begin(); bytes > 0 && room != left.largest_rooms.end();
       ++room, ++cards)
    bytes -= *room;
  return cards;
}

double Cards::handoffs(const Left& left) const {
  if (p_.card_handoff <= 0 || p_.cards.size() < 2 || !left.fits) return 0;
  return p_.card_handoff * real(std::max<Size>(1, fewest_cards(left)) - 1);
}

/// Depth first, card by card. If rooflines have one side, moving a unit to a faster card never
/// costs time. A card then takes as much as it can.
class Packing {
 public:
  Packing(const Cards& cards, const Cards::Left& left, double limit, double enough)
      : c_(cards),
        fewest_(cards.fewest_cards(left)),
        rooms_(left.rooms),
        left_(left.units),
        on_(rooms_.size(), Counts(left_.size(), 0)),
        limit_(limit),
        enough_(enough),
        seen_(rooms_.size()) {}

  Cards::Result run() {
    next(0, 0, 0);
    best_.exact = done_ || steps_ <= packing_steps;
    return std::move(best_);
  }

 private:
  /// `used`: cards before `card` that have work.
  void next(std::size_t card, Size used, double seconds) {
    if (std::all_of(left_.begin(), left_.end(), [](Size n) { return n == 0; })) {
      if (seconds >= limit_) return;
      limit_ = best_.seconds = seconds;
      best_.on = std::vector<Counts>(on_.size());
      for (std::size_t k = 0; k < on_.size(); ++k) (*best_.on)[c_.order_[k]] = on_[k];
      done_ = seconds <= enough_;
      return;
    }
    if (card == rooms_.size() || seconds + c_.fractional(rooms_, left_, card) >= limit_) return;
    std::string key(reinterpret_cast<const char*>(left_.data()), left_.size() * sizeof(Size));
    if (c_.p_.card_handoff > 0) key += std::to_string(used);
    const auto [at, fresh] = seen_[card].try_emplace(key, seconds);
    if (!fresh && at->second <= seconds) return;
    at->second = seconds;
    fill(card, 0, rooms_[card], used, seconds);
    // A handoff may take longer than a faster card saves.
    if (c_.one_sided_ && c_.p_.card_handoff > 0 && !done_) next(card + 1, used, seconds);
  }

  void fill(std::size_t card, std::size_t depth, Size room, Size used, double seconds) {
    if (done_ || ++steps_ > packing_steps) return;
    Counts& on = on_[card];
    if (depth == on.size()) {
      if (c_.one_sided_)
        for (std::size_t i = 0; i < on.size(); ++i)
          if (left_[i] > 0 && c_.size_[i] <= room) return;
      UnitSeconds all;
      for (std::size_t i = 0; i < on.size(); ++i)
        all = all + real(on[i]) * c_.p_.units[i].on[c_.order_[card]];
      const bool works = all.total() > 0;
      const double handoff = works && used >= fewest_ && used > 0 ? c_.p_.card_handoff : 0;
      next(card + 1, used + (works ? 1 : 0), seconds + all.total() + handoff);
      return;
    }
    const std::size_t i = c_.read_.classes[depth];
    const Size size = c_.size_[i], all = left_[i];
    const Size most = size > 0 ? std::min(all, room / size) : all;
    const Size least = c_.one_sided_ && depth + 1 == on.size() ? most : 0;
    for (Size n = most; n >= least; --n) {
      on[i] = n;
      left_[i] = all - n;
      fill(card, depth + 1, room - n * size, used, seconds);
    }
    on[i] = 0;
    left_[i] = all;
  }

  const Cards& c_;
  Size fewest_;
  std::vector<Size> rooms_;
  Counts left_;
  std::vector<Counts> on_;
  double limit_, enough_;
  std::vector<std::unordered_map<std::string, double>>
      seen_;  // by card: units left and cards used, the least cost
  Cards::Result best_;
  int steps_ = 0;
  bool done_ = false;
};

Cards::Result Cards::pack(const Left& left, double limit, double enough) const {
  if (!left.fits) return {};
  return Packing(*this, left, limit, enough).run();
}

}  // namespace headroom::model
