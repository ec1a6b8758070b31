// The packing of units on cards.
#include "model/answer/placement/parts.hpp"

#include <algorithm>
#include <string>
#include <unordered_map>

namespace headroom::model {
namespace {

/// Steps of an exact search before it gives up.
constexpr int packing_steps = 20000;

}  // namespace

Cards::Cards(const UnitProblem& p) : p_(p) {
  order_ = ordered(p.cards.size(), [&](std::size_t c) { return -p.cards[c].s_per_byte; });
  for (const UnitClass& u : p.units) size_.push_back(u.on_card + u.cache);
  std::vector<double> read, multiplied, beside;
  for (const UnitClass& u : p.units) {
    read.push_back(u.bytes + u.beside);
    multiplied.push_back(u.flops);
    beside.push_back(u.beside);
  }
  bytes_ = side(std::move(read), &UnitDevice::s_per_byte);
  flops_ = side(std::move(multiplied), &UnitDevice::s_per_flop);
  beside_ = side(std::move(beside), &UnitDevice::s_per_byte);
  bool reads = true, multiplies = true;
  for (const UnitClass& u : p.units)
    for (const UnitDevice& card : p.cards) {
      reads = reads && u.bytes * card.s_per_byte >= u.flops * card.s_per_flop;
      multiplies = multiplies && u.bytes * card.s_per_byte <= u.flops * card.s_per_flop;
    }
  // Packed in the order of one side's speed: the other's may be another.
  one_sided_ = reads || (multiplies && std::is_sorted(flops_.cards.begin(), flops_.cards.end()));
}

Cards::Side Cards::side(std::vector<double> work, double UnitDevice::*seconds) const {
  Side side;
  side.idle = std::ranges::all_of(work, [](double each) { return each == 0; });
  side.work = std::move(work);
  for (const std::size_t card : order_) side.seconds.push_back(p_.cards[card].*seconds);
  side.classes =
      ordered(p_.units.size(), [&](std::size_t i) { return per_byte(side.work[i], size_[i]); });
  side.cards = ordered(order_.size(), [&](std::size_t k) { return -side.seconds[k]; });
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
      seconds += fits * side.work[i] * side.seconds[card];
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

/// All that is read, or what is multiplied and, as if by other units, what is read beside it.
double Cards::fractional(const std::vector<Size>& rooms, const Counts& units,
                         std::size_t from) const {
  return std::max(fractional(bytes_, rooms, units, from),
                  fractional(flops_, rooms, units, from) + fractional(beside_, rooms, units, from));
}

std::optional<std::vector<Size>> Cards::rooms(const Counts& off) const {
  std::vector<Size> rooms;
  for (const std::size_t card : order_) {
    Size room = p_.cards[card].room;
    if (card == 0 && p_.caches_on_first) {
      for (std::size_t i = 0; i < off.size(); ++i) room -= off[i] * p_.units[i].cache;
      if (room < 0) return std::nullopt;
    }
    rooms.push_back(std::max<Size>(0, room));
  }
  return rooms;
}

Counts Cards::others(const Counts& off) const {
  Counts units;
  for (std::size_t i = 0; i < off.size(); ++i) units.push_back(p_.units[i].count - off[i]);
  return units;
}

double Cards::bound(const Counts& off) const {
  const auto room = rooms(off);
  return room ? fractional(*room, others(off), 0) : endless;
}

/// Depth first, card by card; a card takes as much as it can where moving a unit to a faster card
/// never costs, that is where rooflines have one side.
class Packing {
 public:
  Packing(const Cards& cards, std::vector<Size> rooms, Counts left, double limit, double enough)
      : c_(cards),
        rooms_(std::move(rooms)),
        left_(std::move(left)),
        on_(rooms_.size(), Counts(left_.size(), 0)),
        limit_(limit),
        enough_(enough),
        seen_(rooms_.size()) {}

  Cards::Result run() {
    next(0, 0);
    best_.exact = done_ || steps_ <= packing_steps;
    return std::move(best_);
  }

 private:
  void next(std::size_t card, double seconds) {
    if (std::all_of(left_.begin(), left_.end(), [](Size n) { return n == 0; })) {
      if (seconds >= limit_) return;
      limit_ = best_.seconds = seconds;
      best_.on = std::vector<Counts>(on_.size());
      for (std::size_t k = 0; k < on_.size(); ++k) (*best_.on)[c_.order_[k]] = on_[k];
      done_ = seconds <= enough_;
      return;
    }
    if (card == rooms_.size() || seconds + c_.fractional(rooms_, left_, card) >= limit_) return;
    const std::string key(reinterpret_cast<const char*>(left_.data()), left_.size() * sizeof(Size));
    const auto [at, fresh] = seen_[card].try_emplace(key, seconds);
    if (!fresh && at->second <= seconds) return;
    at->second = seconds;
    fill(card, 0, rooms_[card], seconds);
  }

  void fill(std::size_t card, std::size_t depth, Size room, double seconds) {
    if (done_ || ++steps_ > packing_steps) return;
    Counts& on = on_[card];
    if (depth == on.size()) {
      if (c_.one_sided_)
        for (std::size_t i = 0; i < on.size(); ++i)
          if (left_[i] > 0 && c_.size_[i] <= room) return;
      double bytes = 0, flops = 0, beside = 0;
      for (std::size_t i = 0; i < on.size(); ++i) {
        bytes += real(on[i]) * c_.p_.units[i].bytes;
        flops += real(on[i]) * c_.p_.units[i].flops;
        beside += real(on[i]) * c_.p_.units[i].beside;
      }
      next(card + 1, seconds + c_.p_.cards[c_.order_[card]].seconds(bytes, flops, beside));
      return;
    }
    const std::size_t i = c_.bytes_.classes[depth];
    const Size size = c_.size_[i], all = left_[i];
    const Size most = size > 0 ? std::min(all, room / size) : all;
    const Size least = c_.one_sided_ && depth + 1 == on.size() ? most : 0;
    for (Size n = most; n >= least; --n) {
      on[i] = n;
      left_[i] = all - n;
      fill(card, depth + 1, room - n * size, seconds);
    }
    on[i] = 0;
    left_[i] = all;
  }

  const Cards& c_;
  std::vector<Size> rooms_;
  Counts left_;
  std::vector<Counts> on_;
  double limit_, enough_;
  std::vector<std::unordered_map<std::string, double>>
      seen_;  // by card: units left, the least cost
  Cards::Result best_;
  int steps_ = 0;
  bool done_ = false;
};

Cards::Result Cards::pack(const Counts& off, double limit, double enough) const {
  auto room = rooms(off);
  if (!room) return {};
  return Packing(*this, std::move(*room), others(off), limit, enough).run();
}

}  // namespace headroom::model
