// Two problems remain once the units off the cards are known. One divides them between host memory
// and disk; the other packs all others on the cards. Each has a relaxation to fractions of units
// that bounds it from below, and an exact search that gives up after so many steps.
#pragma once

#include <algorithm>
#include <numeric>
#include <optional>

#include "model/answer/placement/search.hpp"

namespace headroom::model {

inline double real(Size n) { return static_cast<double>(n); }

/// 0 to n - 1, those of larger `key` first.
template <class F>
std::vector<std::size_t> ordered(std::size_t n, F&& key) {
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return key(a) > key(b); });
  return order;
}

inline double per_byte(double value, Size bytes) { return value / real(std::max<Size>(1, bytes)); }

/// Units off the cards, in host memory or on disk: a knapsack of what host memory saves.
class HostAndDisk {
 public:
  explicit HostAndDisk(const UnitProblem& problem);
  /// Seconds at the least with `off` units of each class off the cards, fractions allowed; endless
  /// where they fit nowhere.
  double bound(const Counts& off) const;
  struct Result {
    std::optional<Counts> in_memory;  ///< the best division found
    double seconds = endless;
    bool exact = true;  ///< false: a better one may have been missed
  };
  Result divide(const Counts& off) const;

 private:
  friend class Division;
  Size memory_room(const Counts& off) const;

  const UnitProblem& p_;
  std::vector<std::size_t> order_;  // classes, what saves most per byte of host memory first
};

/// Units on cards, each card with its own roofline.
class Cards {
 public:
  explicit Cards(const UnitProblem& problem);
  /// Rooms and units that are left by units off the cards. One object for many allocates once.
  struct Left {
    bool fits = true;                 ///< caches of the units off the cards have room
    std::vector<Size> rooms;          ///< bytes by card, in the order of packing
    std::vector<Size> largest_rooms;  ///< those rooms, the largest first
    Counts units;                     ///< units of each class that need cards
    Size busy_bytes = 0;              ///< bytes of the units that take time
  };
  /// Sets `left` to what `off` units of each class off the cards leave.
  void leave(const Counts& off, Left& left) const;
  /// Seconds of compute at the least, fractions of units allowed; endless where they do not fit.
  double bound(const Left& left) const;
  /// Seconds of handoffs between as few cards as the units fill.
  double handoffs(const Left& left) const;
  struct Result {
    std::optional<std::vector<Counts>> on;  ///< by card, of the best packing found
    double seconds = endless;               ///< compute, and handoffs between further cards
    bool exact = true;
  };
  /// The least below `limit`; the first found of at most `enough` seconds will do.
  Result pack(const Left& left, double limit, double enough) const;

 private:
  friend class Packing;
  /// A side of the rooflines: what is read, what is computed, or what is between products.
  struct Side {
    bool idle = true;                  // no unit has any work
    std::vector<double> work;          // seconds of a unit on the first card of `order_`
    std::vector<double> slower;        // a card relative to that one, by `order_`: for
                                       // each unit at least so much
    std::vector<std::size_t> classes;  // the densest in work first
    std::vector<std::size_t> cards;    // the fastest first
  };
  using Measure = double (*)(const UnitSeconds& unit);
  Side side(Measure of) const;
  bool slows_down(Measure of) const;
  double fractional(const Side& side, const std::vector<Size>& rooms, const Counts& units,
                    std::size_t from) const;
  double fractional(const std::vector<Size>& rooms, const Counts& units, std::size_t from) const;
  Size fewest_cards(const Left& left) const;

  const UnitProblem& p_;
  std::vector<std::size_t> order_;  // packing order: the card that reads fastest first
  std::vector<Size> size_;          // bytes of a unit on a card, its cache included
  std::vector<Size> busy_size_;     // bytes of a unit that takes time, else 0
  Side read_, compute_, between_;
  bool one_sided_ = true;  // every unit is on the same side of every card's roofline
};

}  // namespace headroom::model
