// The division of units off the cards between host memory and disk.
#include <algorithm>

#include "model/answer/placement/parts.hpp"

namespace headroom::model {
namespace {

/// Steps of an exact search before it gives up.
constexpr int division_steps = 5000;

}  // namespace

HostAndDisk::HostAndDisk(const UnitProblem& p) : p_(p) {
  order_ = ordered(p.units.size(), [&](std::size_t i) {
    return per_byte(p.units[i].disk_s - p.units[i].cpu_s, p.units[i].on_cpu);
  });
}

Size HostAndDisk::memory_room(const Counts& off) const {
  Size room = p_.host_room;
  if (!p_.caches_on_first)
    for (std::size_t i = 0; i < off.size(); ++i) room -= off[i] * p_.units[i].cache;
  return room;
}

double HostAndDisk::bound(const Counts& off) const {
  Size room = memory_room(off);
  double seconds = 0;
  for (const std::size_t i : order_) {
    if (off[i] == 0) continue;
    const UnitClass& u = p_.units[i];
    if (room < 0) return endless;
    const Size held = off[i] * u.on_cpu;
    if (held <= room) {
      room -= held;
      seconds += real(off[i]) * u.cpu_s;
      continue;
    }
    const double in_memory = real(room) / real(u.on_cpu), rest = real(off[i]) - in_memory;
    room = 0;
    seconds += in_memory * u.cpu_s + rest * u.disk_s;
  }
  // Fractions of what saves most may leave more for the disk than must be there: only what no
  // division holds is refused.
  double most_on_disk = real(p_.disk_room), memory = real(std::max<Size>(0, memory_room(off)));
  double all = 0;
  for (std::size_t i = 0; i < off.size(); ++i)
    all += real(off[i]) * real(std::min(p_.units[i].on_cpu, p_.units[i].on_disk));
  return all > most_on_disk + memory || memory_room(off) < 0 ? endless : seconds;
}

/// Depth first over the classes, the most in host memory first.
class Division {
 public:
  Division(const HostAndDisk& parts, const Counts& off)
      : p_(parts.p_), order_(parts.order_), off_(off), taken_(off.size(), 0) {}

  HostAndDisk::Result run(Size room) {
    if (room >= 0) at(0, room, p_.disk_room, 0);
    best_.exact = steps_ <= division_steps;
    return std::move(best_);
  }

 private:
  /// Seconds at the least of the classes from `depth` on.
  double rest(std::size_t depth, Size room) const {
    double seconds = 0;
    for (; depth < order_.size(); ++depth) {
      const UnitClass& u = p_.units[order_[depth]];
      const Size n = off_[order_[depth]];
      const double most = u.on_cpu > 0 ? std::min(real(n), real(room) / real(u.on_cpu)) : real(n);
      room = most < real(n) ? 0 : room - n * u.on_cpu;
      seconds += most * u.cpu_s + (real(n) - most) * u.disk_s;
    }
    return seconds;
  }
  void at(std::size_t depth, Size room, Size disk, double seconds) {
    if (disk < 0 || ++steps_ > division_steps) return;
    if (seconds + rest(depth, room) >= best_.seconds * (1 - 1e-12)) return;
    if (depth == order_.size()) {
      best_.in_memory = taken_;
      best_.seconds = seconds;
      return;
    }
    const std::size_t i = order_[depth];
    const UnitClass& u = p_.units[i];
    const Size most = u.on_cpu > 0 ? std::min(off_[i], room / u.on_cpu) : off_[i];
    for (Size n = most; n >= 0; --n) {
      taken_[i] = n;
      const Size rest = off_[i] - n;
      at(depth + 1, room - n * u.on_cpu, disk - rest * u.on_disk,
         seconds + real(n) * u.cpu_s + real(rest) * u.disk_s);
    }
    taken_[i] = 0;
  }

  const UnitProblem& p_;
  const std::vector<std::size_t>& order_;
  const Counts& off_;
  Counts taken_;
  HostAndDisk::Result best_;
  int steps_ = 0;
};

HostAndDisk::Result HostAndDisk::divide(const Counts& off) const {
  return Division(*this, off).run(memory_room(off));
}

}  // namespace headroom::model
