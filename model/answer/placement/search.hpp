// The fastest way to put units of a few classes on cards, in host memory and on disk, within their
// memory: exact where the classes are few, otherwise with a bound on what any placement could
// reach.
//
// Units of a class are equal, so a placement is a number of units of each class on each device. The
// time of a step is
//
//   offload seconds + compute (+ or beside launches),
//   compute = sum over cards and the offloaded rest of
//             max(bytes * s/byte, FLOPs * s/FLOP) + bytes beside that * s/byte
//
// What is not on cards settles most of it: its compute exactly, and what the two problems that are
// left can come to at the least, how it is divided between host memory and disk and how the rest is
// packed on the cards (both bounded by their fractional relaxations). So every number of units of
// each class off the cards is a candidate, and candidates are worked out exactly, the lowest bound
// first, until no bound is below the best placement found. Where there are too many candidates,
// classes that are most alike are taken together: as large and slow as the larger and slower of
// them for a placement, as small and fast as the smaller and faster for the bound.
#pragma once

#include <limits>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::model {

struct UnitClass {
  Size count = 0;
  Size on_card = 0, on_cpu = 0, on_disk = 0;  ///< bytes of one unit's weights
  Size cache = 0;                             ///< bytes, where the unit runs
  double bytes = 0, flops = 0, beside = 0;    ///< read, multiplied and read beside, on a card
  double off_bytes = 0, off_flops = 0, hidden_off = 0;  ///< … by what computes the rest
  double cpu_s = 0, disk_s = 0;  ///< added to a step by a unit in host memory, on disk
  bool offloads = true;          ///< may be anywhere but on a card
};

/// A device's roofline, and the bytes it has room for.
struct UnitDevice {
  Size room = 0;
  double s_per_byte = 0, s_per_flop = 0;
  double seconds(double bytes, double flops, double beside) const {
    const double read = bytes * s_per_byte, multiplied = flops * s_per_flop;
    return (read > multiplied ? read : multiplied) + beside * s_per_byte;
  }
};

struct UnitProblem {
  std::vector<UnitClass> units;
  std::vector<UnitDevice> cards;
  UnitDevice offloaded;  ///< what computes the rest; room: host memory
  Size disk_room = 0;
  bool caches_on_first = false;  ///< caches of offloaded units are on the first card
  double launches = 0;           ///< seconds
  bool launches_hide = false;    ///< behind the compute; else they are added
  double step(double offload_s, double compute_s) const {
    if (!launches_hide) return offload_s + compute_s + launches;
    return offload_s + (compute_s > launches ? compute_s : launches);
  }
};

/// Units of each class.
using Counts = std::vector<Size>;
inline constexpr double endless = std::numeric_limits<double>::infinity();

struct UnitPlacement {
  std::vector<Counts> on;  ///< by device: cards first, then host memory, then disk; empty: none
  double step = endless;   ///< of it, or at most so much
  double bound = endless;  ///< no placement takes less than this or than `reached`
};

/// The least step there is below `reached`.
UnitPlacement search(const UnitProblem& problem, double reached = endless);

}  // namespace headroom::model
