// The fastest placement of units of a few classes on cards, in host memory and on disk, within
// their memory. It is exact for few classes; otherwise it comes with a bound on every placement.
//
// Units of a class are equal, so a placement is a number of units of each class on each device. The
// time of a step is
//
//   offload seconds + handoffs + compute (+ or parallel to launches; parallel to copies where an
//   engine prefetches), compute = sum over cards and the offloaded rest of max(read, compute) +
//   between products
//
// with the seconds of the roofline that a pass's timeline has (model/infer/timeline/roofline.hpp).
// Handoffs between devices depend on the order of layers, which the search leaves open: it counts
// those that no order of the units avoids.
//
// The units off the cards determine most of the time, and their compute exactly. Two problems
// remain: dividing these units between host memory and disk, and packing the others on the cards.
// Both are bounded by their fractional relaxations. So every number of units of each class off the
// cards is a candidate. Candidates are solved exactly, the lowest bound first, until no bound is
// below the best placement found. If there are too many candidates, the most similar classes are
// merged. A merged class has the larger size and time of its members for a placement, and the
// smaller ones for the bound.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::model {

/// Seconds of one unit on one device. Units on a device add up.
struct UnitSeconds {
  double read = 0;     ///< weights, while products run
  double compute = 0;  ///< products, and what kernels besides them do, such as unpacking weights
  double between = 0;  ///< caches read, unpacked and copied between products
  double total() const { return (read > compute ? read : compute) + between; }
};
constexpr UnitSeconds operator+(const UnitSeconds& a, const UnitSeconds& b) {
  return {a.read + b.read, a.compute + b.compute, a.between + b.between};
}
constexpr UnitSeconds operator*(double n, const UnitSeconds& a) {
  return {n * a.read, n * a.compute, n * a.between};
}

/// Position of a unit in a pass. A layer's experts come after the rest of it.
enum class UnitKind : std::uint8_t { layer, dense, experts, end };

struct UnitClass {
  Size count = 0;
  Size on_card = 0, on_cpu = 0, on_disk = 0;  ///< bytes of one unit's weights
  Size cache = 0;                             ///< bytes, where the unit runs
  std::vector<UnitSeconds> on{};              ///< by card
  UnitSeconds off{};                          ///< by what computes the rest
  UnitSeconds attention{};                    ///< on a CPU, with a roofline of its own
  double cpu_s = 0, disk_s = 0;               ///< added to a step by a unit in host memory, on disk
  bool offloads = true;                       ///< may be anywhere but on a card
  UnitKind kind = UnitKind::end;
};

struct UnitProblem {
  std::vector<UnitClass> units;
  std::vector<Size> cards;  ///< bytes that each has room for
  Size host_room = 0, disk_room = 0;
  bool caches_on_first = false;  ///< caches of offloaded units are on the first card
  double launches = 0;           ///< seconds
  bool launches_hide = false;    ///< behind the compute; else they are added
  double card_handoff = 0;       ///< seconds, from one card to the next
  double cpu_handoff = 0;        ///< seconds, from a card to the CPU or back
  bool prefetches = false;       ///< copies hide behind compute and launches
  /// `copies_s`: seconds of `offload_s` that go on while a card computes.
  double step(double offload_s, double copies_s, double compute_s) const {
    const double busy = !launches_hide         ? compute_s + launches
                        : compute_s > launches ? compute_s
                                               : launches;
    return offload_s - copies_s + (busy > copies_s ? busy : copies_s);
  }
  /// Seconds that copying `off` units of each class may hide. Units on disk are copied too.
  double hiding_copies(const std::vector<Size>& off) const;
  /// Compute of `off` units of each class that are not on cards.
  double off_the_cards(const std::vector<Size>& off) const;
  /// Seconds of handoffs between cards and the CPU that no order of layers avoids.
  double cpu_handoffs(const std::vector<Size>& off) const;
};

/// Units of each class.
using Counts = std::vector<Size>;
inline constexpr double endless = std::numeric_limits<double>::infinity();

struct UnitPlacement {
  std::vector<Counts> on;  ///< by device: cards first, then host memory, then disk; empty: none
  double step = endless;   ///< the placement's step, or a limit for it
  double bound = endless;  ///< no placement takes less than this or than `reached`
};

/// The least step there is below `reached`.
UnitPlacement search(const UnitProblem& problem, double reached = endless);

}  // namespace headroom::model
