// The fastest way to put units of a few classes on cards, in host memory and on disk, within their
// memory: exact where the classes are few, otherwise with a bound on what any placement could
// reach.
//
// Units of a class are equal, so a placement is a number of units of each class on each device. The
// time of a step is
//
//   offload seconds + sum over cards and the offloaded rest of max(bytes * s/byte, FLOPs * s/FLOP)
//
// The search goes from card to card over the counts that are left (dynamic programming: what was
// reached with the same counts left competes by time alone). The bound is Lagrangian: memory has a
// price, and each roofline is replaced by a mixture of its two sides, so that every unit chooses
// by itself; prices of any size give a true bound, good ones a close one.
#pragma once

#include <optional>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::model {

struct UnitClass {
  Size count = 0;
  Size on_card = 0, on_cpu = 0, on_disk = 0;  ///< bytes of one unit's weights
  Size cache = 0;                             ///< bytes, where the unit runs
  double bytes = 0, flops = 0;                ///< read and multiplied in a step
  double cpu_s = 0, disk_s = 0;               ///< added to a step by a unit in host memory, on disk
  bool offloads = true;                       ///< may be anywhere but on a card
};

/// A device's roofline, and the bytes it has room for.
struct UnitDevice {
  Size room = 0;
  double s_per_byte = 0, s_per_flop = 0;
  double seconds(double bytes, double flops) const {
    const double read = bytes * s_per_byte, multiplied = flops * s_per_flop;
    return read > multiplied ? read : multiplied;
  }
};

struct UnitProblem {
  std::vector<UnitClass> units;
  std::vector<UnitDevice> cards;
  UnitDevice offloaded;  ///< what computes the rest; room: host memory
  Size disk_room = 0;
  bool caches_on_first = false;  ///< caches of offloaded units are on the first card
};

struct UnitPlacement {
  /// counts[device][class], cards first, then host memory, then disk. Empty: nothing fits.
  std::vector<std::vector<Size>> counts;
  double offload_s = 0;  ///< its time over buses
  double compute_s = 0;  ///< sum of the rooflines
  double bound = 0;      ///< of roofline_share * compute + offload, over all placements
  bool exact = false;    ///< nothing was left out: this is the least there is
};

/// The least offload_s + roofline_share * compute_s.
UnitPlacement search(const UnitProblem& problem, double roofline_share);

/// Prices of memory and mixtures of rooflines that give `value`.
struct UnitPrices {
  std::vector<double> memory;   ///< seconds a byte: cards, host memory, disk
  std::vector<double> mixture;  ///< share of the bytes' side: cards, the rest
  double value = 0;
};
/// What a unit adds to the Lagrangian on `device` (cards, then host memory, then disk).
double priced(const UnitProblem& problem, const UnitPrices& prices, double roofline_share,
              std::size_t unit, std::size_t device);
/// `reached`: a value that some placement has, infinite where none is known.
UnitPrices best_prices(const UnitProblem& problem, double roofline_share, double reached);

}  // namespace headroom::model
