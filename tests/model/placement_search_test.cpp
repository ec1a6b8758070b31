// The search over units of layers, compared with every possible placement.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/answer/placement/search.hpp"
#include "model/answer/placement/strategy.hpp"
#include "tests/model/drawing.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

/// The shortest step over every number of every unit on every device.
double min_step(const UnitProblem& p) {
  const std::size_t cards = p.cards.size(), devices = cards + 2;
  std::vector<Counts> on(devices, Counts(p.units.size(), 0));
  double least = endless;
  const auto value = [&] {
    std::vector<Size> used(devices, 0);
    std::vector<double> bytes(cards + 1, 0.0), flops(cards + 1, 0.0), beside(cards + 1, 0.0);
    double offload_s = 0;
    for (std::size_t d = 0; d < devices; ++d)
      for (std::size_t i = 0; i < p.units.size(); ++i) {
        const UnitClass& u = p.units[i];
        const Size n = on[d][i];
        if (n > 0 && d >= cards && !u.offloads) return endless;
        used[d] += n * (d < cards ? u.on_card : d == cards ? u.on_cpu : u.on_disk);
        used[d < cards ? d : p.caches_on_first ? 0 : cards] += n * u.cache;
        bytes[std::min(d, cards)] += static_cast<double>(n) * (d < cards ? u.bytes : u.off_bytes);
        flops[std::min(d, cards)] += static_cast<double>(n) * (d < cards ? u.flops : u.off_flops);
        beside[std::min(d, cards)] +=
            static_cast<double>(n) * (d < cards ? u.beside : u.hidden_off);
        if (d >= cards) offload_s += static_cast<double>(n) * (d == cards ? u.cpu_s : u.disk_s);
      }
    double compute = p.offloaded.seconds(bytes[cards], flops[cards], beside[cards]);
    for (std::size_t d = 0; d < devices; ++d)
      if (used[d] > (d < cards ? p.cards[d].room : d == cards ? p.offloaded.room : p.disk_room))
        return endless;
    for (std::size_t d = 0; d < cards; ++d)
      compute += p.cards[d].seconds(bytes[d], flops[d], beside[d]);
    return p.step(offload_s, compute);
  };
  const auto put = [&](auto&& self, std::size_t i, std::size_t d, Size left) -> void {
    if (i == p.units.size()) {
      least = std::min(least, value());
    } else if (d + 1 == devices) {
      on[d][i] = left;
      self(self, i + 1, 0, i + 1 < p.units.size() ? p.units[i + 1].count : 0);
    } else {
      for (on[d][i] = left; on[d][i] >= 0; --on[d][i]) self(self, i, d + 1, left - on[d][i]);
    }
  };
  put(put, 0, 0, p.units[0].count);
  return least;
}

TEST(PlacementSearch, EqualsEveryPlacementThereIs) {
  Drawing random{std::mt19937(23)};
  int feasible = 0;
  for (int i = 0; i < 600; ++i) {
    UnitProblem p;
    for (Size c = random.between(1, 3); c > 0; --c) {
      UnitClass u;
      u.count = random.between(1, 4);
      u.on_card = u.on_cpu = u.on_disk = random.between(1, 20);
      u.cache = random.between(0, 3);
      u.bytes = static_cast<double>(random.between(1, 50));
      u.flops = static_cast<double>(random.between(1, 50));
      u.off_bytes = static_cast<double>(random.between(1, 50));
      u.off_flops = static_cast<double>(random.between(1, 50));
      if (i % 2 == 0) {
        u.beside = static_cast<double>(random.between(0, 50));
        u.hidden_off = static_cast<double>(random.between(0, 50));
      }
      u.cpu_s = static_cast<double>(random.between(0, 30));
      u.disk_s = u.cpu_s + static_cast<double>(random.between(0, 30));
      u.offloads = random.between(0, 9) > 0;
      p.units.push_back(u);
    }
    for (Size c = random.between(0, 2); c > 0; --c)
      p.cards.push_back({random.between(0, 60), 0.01 * static_cast<double>(random.between(1, 9)),
                         0.01 * static_cast<double>(random.between(1, 9))});
    p.offloaded = {random.between(0, 100), 0.5, 0.3};
    p.disk_room = random.between(0, 60);
    p.caches_on_first = !p.cards.empty() && i % 2 == 0;
    p.launches = static_cast<double>(random.between(0, 20));
    p.launches_hide = i % 3 == 0;
    const double least = min_step(p);
    const UnitPlacement found = search(p);
    ASSERT_EQ(found.on.empty(), !std::isfinite(least)) << i;
    if (found.on.empty()) continue;
    ++feasible;
    ASSERT_NEAR(found.step, least, 1e-9 * least) << i;
    ASSERT_NEAR(found.bound, least, 1e-9 * least) << i;
    // No placement is faster than the bound, so a lower limit finds nothing.
    ASSERT_TRUE(search(p, least * (1 - 1e-6)).on.empty()) << i;
  }
  EXPECT_GT(feasible, 200);
}

TEST(PlacementSearch, ClassesTakenTogetherGiveATrueBound) {
  // Ten classes of ten units each have too many placements to check one by one.
  Drawing random{std::mt19937(24)};
  double widest = 0;
  for (int i = 0; i < 30; ++i) {
    UnitProblem p;
    Size all = 0;
    for (Size c = 0; c < 10; ++c) {
      UnitClass u;
      u.count = 10;
      u.on_card = u.on_cpu = u.on_disk = random.between(100, 110);
      u.bytes = u.off_bytes = static_cast<double>(u.on_card);
      u.disk_s = static_cast<double>(u.on_disk) * 0.01;
      all += u.count * u.on_card;
      p.units.push_back(u);
    }
    p.cards = {{all * random.between(1, 5) / 10, 0.001, 0},
               {all * random.between(1, 3) / 10, 0.002, 0}};
    p.offloaded = {all * random.between(0, 5) / 10, 0.02, 0};
    p.disk_room = all;
    const UnitPlacement found = search(p);
    ASSERT_FALSE(found.on.empty()) << i;
    ASSERT_LE(found.bound, found.step) << i;
    // Fractions of units on the fastest devices give a bound that no placement beats.
    double left = static_cast<double>(all), least = 0;
    for (const auto& [room, rate] : {std::pair{p.cards[0].room, 0.001},
                                     {p.cards[1].room, 0.002},
                                     {p.offloaded.room, 0.02},
                                     {p.disk_room, 0.03}}) {
      const double here = std::min(left, static_cast<double>(room));
      least += here * rate;
      left -= here;
    }
    ASSERT_GE(found.step, least * (1 - 1e-9)) << i;
    widest = std::max(widest, 1 - found.bound / found.step);
  }
  fmt::print("widest gap of classes taken together: {:.2f} %\n", 100 * widest);
  EXPECT_LT(widest, 0.2);
}

}  // namespace
}  // namespace headroom::model
