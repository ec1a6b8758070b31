// The search over units of layers, compared with every possible placement.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>

#include "model/answer/placement/search.hpp"
#include "model/answer/placement/strategy.hpp"
#include "tests/model/infer/drawing.hpp"
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
    std::vector<UnitSeconds> taken(cards + 1);
    UnitSeconds attention;
    double offload_s = 0, copies_s = 0;
    for (std::size_t d = 0; d < devices; ++d)
      for (std::size_t i = 0; i < p.units.size(); ++i) {
        const UnitClass& u = p.units[i];
        const Size n = on[d][i];
        if (n > 0 && d >= cards && !u.offloads) return endless;
        used[d] += n * (d < cards ? u.on_card : d == cards ? u.on_cpu : u.on_disk);
        used[d < cards ? d : p.caches_on_first ? 0 : cards] += n * u.cache;
        UnitSeconds& here = taken[std::min(d, cards)];
        here = here + static_cast<double>(n) * (d < cards ? u.on[d] : u.off);
        if (d >= cards) attention = attention + static_cast<double>(n) * u.attention;
        if (d >= cards) offload_s += static_cast<double>(n) * (d == cards ? u.cpu_s : u.disk_s);
        if (d >= cards && p.prefetches) copies_s += static_cast<double>(n) * u.cpu_s;
      }
    double compute = taken[cards].total() + attention.total();
    Size works = 0;
    for (std::size_t d = 0; d < devices; ++d)
      if (used[d] > (d < cards ? p.cards[d] : d == cards ? p.host_room : p.disk_room))
        return endless;
    for (std::size_t d = 0; d < cards; ++d) {
      compute += taken[d].total();
      works += taken[d].total() > 0 ? 1 : 0;
    }
    const double handoffs = p.card_handoff * static_cast<double>(std::max<Size>(1, works) - 1);
    const double busy = p.launches_hide ? std::max(compute, p.launches) : compute + p.launches;
    return offload_s - copies_s + handoffs + std::max(copies_s, busy);
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

/// Seconds of amounts from 1 to 50, at rates of a device.
UnitSeconds at(const UnitSeconds& amount, const UnitSeconds& rate) {
  return {amount.read * rate.read, amount.compute * rate.compute, amount.between * rate.between};
}

TEST(PlacementSearch, EqualsEveryPlacementThereIs) {
  Drawing random{std::mt19937(23)};
  int feasible = 0, handed_on = 0;
  const auto amount = [&] { return static_cast<double>(random.between(1, 50)); };
  const auto rate = [&] { return 0.01 * static_cast<double>(random.between(1, 9)); };
  for (int i = 0; i < 900; ++i) {
    UnitProblem p;
    const std::size_t cards = static_cast<std::size_t>(random.between(0, i % 4 == 3 ? 3 : 2));
    std::vector<UnitSeconds> rates;
    for (std::size_t c = 0; c < cards; ++c) {
      p.cards.push_back(random.between(0, 60));
      const double reading = rate();
      rates.push_back({reading, rate(), i % 5 == 0 ? rate() : reading});
    }
    for (Size c = random.between(1, 3); c > 0; --c) {
      UnitClass u;
      u.count = random.between(1, 4);
      u.on_card = u.on_cpu = u.on_disk = random.between(1, 20);
      u.cache = random.between(0, 3);
      const bool caches = i % 2 == 0;
      const UnitSeconds work{amount(), amount(), caches ? amount() : 0};
      for (std::size_t card = 0; card < cards; ++card) u.on.push_back(at(work, rates[card]));
      u.off = at({amount(), amount(), caches ? amount() : 0}, {0.5, 0.3, 0.5});
      if (i % 3 == 0) u.attention = at({amount(), amount(), 0}, {0.2, 0.2, 0});
      u.cpu_s = static_cast<double>(random.between(0, 30));
      u.disk_s = u.cpu_s + static_cast<double>(random.between(0, 30));
      u.offloads = random.between(0, 9) > 0;
      p.units.push_back(u);
    }
    p.host_room = random.between(0, 100);
    p.disk_room = random.between(0, 60);
    p.caches_on_first = !p.cards.empty() && i % 2 == 0;
    p.launches = static_cast<double>(random.between(0, 20));
    p.launches_hide = i % 3 == 0;
    // Handoffs that overlap with launches or copies are counted together with what hides them.
    p.prefetches = i % 3 != 1 && i % 7 == 0;
    if (i % 3 == 1) p.card_handoff = static_cast<double>(random.between(0, 5));
    handed_on += p.card_handoff > 0 && cards > 1 ? 1 : 0;
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
  EXPECT_GT(handed_on, 50);
}

/// Handoffs to the CPU and back of a pass through layers whose parts are on the card or not.
Size handoffs_of(const std::vector<bool>& on_card) {
  Size count = 0;
  for (std::size_t i = 1; i < on_card.size(); ++i) count += on_card[i] != on_card[i - 1] ? 1 : 0;
  return count;
}

// Every order of four layers with experts, each part on the card or on the CPU.
TEST(PlacementSearch, CountsHandoffsThatNoOrderAvoids) {
  constexpr Size layers = 4, places = Size{1} << (2 * layers);
  std::map<std::pair<Size, Size>, Size> fewest;  // by dense parts and experts off the card
  for (Size place = 0; place < places; ++place) {
    std::vector<bool> on_card;
    Size dense = 0, experts = 0;
    for (Size part = 0; part < 2 * layers; ++part) {
      on_card.push_back((place >> part & 1) == 0);
      (part % 2 == 0 ? dense : experts) += on_card.back() ? 0 : 1;
    }
    const auto [at, fresh] = fewest.try_emplace({dense, experts}, handoffs_of(on_card));
    if (!fresh) at->second = std::min(at->second, handoffs_of(on_card));
  }
  UnitProblem p;
  p.cpu_handoff = 1;
  p.units = {{.count = layers, .kind = UnitKind::dense},
             {.count = layers, .kind = UnitKind::experts},
             {.count = 1, .kind = UnitKind::end}};
  for (const auto& [off, count] : fewest)
    EXPECT_EQ(p.cpu_handoffs({off.first, off.second, 1}), static_cast<double>(count))
        << off.first << ' ' << off.second;
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
      const auto bytes = static_cast<double>(u.on_card);
      u.on = {{.read = 0.001 * bytes}, {.read = 0.002 * bytes}};
      u.off = {.read = 0.02 * bytes};
      u.disk_s = static_cast<double>(u.on_disk) * 0.01;
      all += u.count * u.on_card;
      p.units.push_back(u);
    }
    p.cards = {all * random.between(1, 5) / 10, all * random.between(1, 3) / 10};
    p.host_room = all * random.between(0, 5) / 10;
    p.disk_room = all;
    const UnitPlacement found = search(p);
    ASSERT_FALSE(found.on.empty()) << i;
    ASSERT_LE(found.bound, found.step) << i;
    // Fractions of units on the fastest devices give a bound that no placement beats.
    double left = static_cast<double>(all), least = 0;
    for (const auto& [room, rate] : {std::pair{p.cards[0], 0.001},
                                     {p.cards[1], 0.002},
                                     {p.host_room, 0.02},
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
