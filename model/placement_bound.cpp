// The Lagrangian bound: prices by projected subgradient steps towards the best known value (Polyak,
// USSR Computational Mathematics and Mathematical Physics 9, 1969).
#include <algorithm>
#include <cmath>
#include <limits>

#include "model/placement_search.hpp"

namespace headroom::model {
namespace {

constexpr int steps = 400;

Size room_of(const UnitProblem& p, std::size_t device) {
  if (device < p.cards.size()) return p.cards[device].room;
  return device == p.cards.size() ? p.offloaded.room : p.disk_room;
}

Size held(const UnitProblem& p, const UnitClass& u, std::size_t device) {
  if (device < p.cards.size()) return u.on_card + u.cache;
  if (device > p.cards.size()) return u.on_disk;
  return u.on_cpu + (p.caches_on_first ? 0 : u.cache);
}

/// Bytes that a unit takes of each device's room when it is placed on `device`.
template <class F>
void for_uses(const UnitProblem& p, const UnitClass& u, std::size_t device, F&& f) {
  f(device, held(p, u, device));
  if (device < p.cards.size() || u.cache == 0) return;
  if (p.caches_on_first)
    f(std::size_t{0}, u.cache);
  else if (device > p.cards.size())
    f(p.cards.size(), u.cache);
}

}  // namespace

double priced(const UnitProblem& p, const UnitPrices& prices, double share, std::size_t unit,
              std::size_t device) {
  const UnitClass& u = p.units[unit];
  const std::size_t cards = p.cards.size();
  if (device >= cards && !u.offloads) return std::numeric_limits<double>::infinity();
  if (room_of(p, device) < held(p, u, device)) return std::numeric_limits<double>::infinity();
  const UnitDevice& runs = device < cards ? p.cards[device] : p.offloaded;
  const double mixture = prices.mixture[std::min(device, cards)];
  double cost =
      share * (mixture * u.bytes * runs.s_per_byte + (1 - mixture) * u.flops * runs.s_per_flop);
  if (device >= cards) cost += device == cards ? u.cpu_s : u.disk_s;
  for_uses(p, u, device, [&](std::size_t of, Size bytes) {
    cost += prices.memory[of] * static_cast<double>(bytes);
  });
  return cost;
}

UnitPrices best_prices(const UnitProblem& p, double share, double reached) {
  const std::size_t cards = p.cards.size(), devices = cards + 2;
  UnitPrices now{std::vector<double>(devices, 0.0), std::vector<double>(cards + 1, 1.0), 0};
  UnitPrices best = now;
  best.value = -std::numeric_limits<double>::infinity();
  double pace = 1;
  int since = 0;
  for (int step = 0; step < steps; ++step) {
    now.value = 0;
    std::vector<double> use(devices, 0.0), bytes_s(cards + 1, 0.0), flops_s(cards + 1, 0.0);
    for (std::size_t i = 0; i < p.units.size(); ++i) {
      std::size_t chosen = 0;
      double least = std::numeric_limits<double>::infinity();
      for (std::size_t device = 0; device < devices; ++device)
        if (const double cost = priced(p, now, share, i, device); cost < least) {
          least = cost;
          chosen = device;
        }
      const UnitClass& u = p.units[i];
      const double n = static_cast<double>(u.count);
      now.value += n * least;
      if (std::isinf(least)) continue;
      for_uses(p, u, chosen,
               [&](std::size_t of, Size bytes) { use[of] += n * static_cast<double>(bytes); });
      const std::size_t runs = std::min(chosen, cards);
      const UnitDevice& device = runs < cards ? p.cards[runs] : p.offloaded;
      bytes_s[runs] += n * u.bytes * device.s_per_byte;
      flops_s[runs] += n * u.flops * device.s_per_flop;
    }
    for (std::size_t d = 0; d < devices; ++d)
      now.value -= now.memory[d] * static_cast<double>(std::max<Size>(0, room_of(p, d)));
    if (now.value > best.value) {
      best = now;
      since = 0;
    } else if (++since == 20) {
      pace /= 2;
      since = 0;
    }
    // Steps are taken in prices times room, so that all directions are of one size.
    const double target = std::isfinite(reached) ? reached : 1.05 * std::fabs(now.value) + 1e-6;
    double length = 0;
    for (std::size_t d = 0; d < devices; ++d)
      if (const Size room = room_of(p, d); room > 0)
        length += std::pow(use[d] / static_cast<double>(room) - 1, 2);
    for (std::size_t t = 0; t <= cards; ++t)
      length += std::pow(share * (bytes_s[t] - flops_s[t]), 2);
    if (length <= 0 || target <= now.value || !std::isfinite(now.value)) break;
    const double size = pace * (target - now.value) / length;
    for (std::size_t d = 0; d < devices; ++d)
      if (const double room = static_cast<double>(room_of(p, d)); room > 0)
        now.memory[d] = std::max(0.0, now.memory[d] + size * (use[d] / room - 1) / room);
    for (std::size_t t = 0; t <= cards; ++t)
      now.mixture[t] =
          std::clamp(now.mixture[t] + size * share * (bytes_s[t] - flops_s[t]), 0.0, 1.0);
  }
  return best;
}

}  // namespace headroom::model
