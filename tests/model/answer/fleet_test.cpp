// Fleets, compared with brute force over every way to serve each load and every packing of the
// copies.
#include "model/answer/fleet.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "hardware/catalogue.hpp"
#include "hardware/machine.hpp"
#include "model/infer/demand.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

ServingOption way(Size parts, double demand) {
  ServingOption each;
  each.parts = parts;
  each.demand = demand;
  return each;
}

/// The fewest bins for `sizes`, found by trying every bin for every item.
Size fewest_bins(const std::vector<Size>& sizes, Size room) {
  Size best = static_cast<Size>(sizes.size());
  std::vector<Size> bins;
  const std::function<void(std::size_t)> place = [&](std::size_t item) {
    if (static_cast<Size>(bins.size()) >= best && item < sizes.size()) return;
    if (item == sizes.size()) {
      best = std::min(best, static_cast<Size>(bins.size()));
      return;
    }
    for (std::size_t bin = 0; bin < bins.size(); ++bin)
      if (bins[bin] + sizes[item] <= room) {
        bins[bin] += sizes[item];
        place(item + 1);
        bins[bin] -= sizes[item];
      }
    bins.push_back(sizes[item]);
    place(item + 1);
    bins.pop_back();
  };
  place(0);
  return best;
}

Size by_force(Size room, const std::vector<std::vector<ServingOption>>& ways) {
  Size best = 1'000;
  std::vector<Size> sizes;
  const std::function<void(std::size_t)> choose = [&](std::size_t load) {
    if (load == ways.size()) {
      best = std::min(best, fewest_bins(sizes, room));
      return;
    }
    for (const ServingOption& each : ways[load]) {
      const auto before = sizes.size();
      sizes.insert(sizes.end(), static_cast<std::size_t>(each.copies(1)), each.parts);
      choose(load + 1);
      sizes.resize(before);
    }
  };
  choose(0);
  return best;
}

/// Every copy has a machine, and no machine exceeds its room.
void expect_whole(const Fleet& fleet, Size room) {
  std::vector<Size> placed(fleet.stays.size());
  Size machines = 0, used = 0;
  for (const Pattern& pattern : fleet.patterns) {
    Size parts = 0;
    for (std::size_t i = 0; i < placed.size(); ++i) {
      placed[i] += pattern.machines * pattern.copies[i];
      parts += pattern.copies[i] * fleet.stays[i].way.parts;
    }
    EXPECT_LE(parts, room);
    machines += pattern.machines;
    used += pattern.machines * parts;
  }
  for (std::size_t i = 0; i < placed.size(); ++i) EXPECT_EQ(placed[i], fleet.stays[i].copies);
  EXPECT_EQ(machines, fleet.machines);
  EXPECT_EQ(fleet.free_parts, machines * room - used);
}

TEST(Fleet, IsTheSmallestOfAllPackings) {
  std::mt19937 random(7);
  const auto up_to = [&](int n) { return static_cast<Size>(random() % static_cast<unsigned>(n)); };
  int proven = 0;
  for (int round = 0; round < 400; ++round) {
    const Size cards = 1 + up_to(8), room = cards * parts_of_a_card;
    std::vector<Size> sizes{1, 2, 4};
    for (Size share = 2; share <= cards; ++share)
      if (cards % share == 0) sizes.push_back(share * parts_of_a_card);
    std::vector<std::vector<ServingOption>> ways(1 + static_cast<std::size_t>(up_to(3)));
    for (auto& each : ways)
      for (Size n = 1 + up_to(2); n > 0; --n)
        each.push_back(way(sizes[static_cast<std::size_t>(up_to(static_cast<int>(sizes.size())))],
                           0.2 + 0.7 * static_cast<double>(up_to(4))));
    const Fleet fleet = smallest_fleet(cards, ways);
    expect_whole(fleet, room);
    const Size least = by_force(room, ways);
    EXPECT_GE(fleet.machines, least);
    if (fleet.proven) {
      EXPECT_EQ(fleet.machines, least) << "cards " << cards;
    }
    proven += fleet.proven ? 1 : 0;
  }
  EXPECT_GT(proven, 350);
}

TEST(Fleet, MoreLoadNeverTakesFewerMachines) {
  const std::vector<std::vector<ServingOption>> ways{{way(8, 0.7), way(16, 0.4)}, {way(1, 2.5)}};
  Size before = 0;
  for (double scale = 0.1; scale < 40; scale *= 1.3) {
    const Fleet fleet = smallest_fleet(4, ways, scale);
    EXPECT_GE(fleet.machines, before);
    before = fleet.machines;
  }
  EXPECT_GT(before, 10);
}

TEST(Serving, WhatRunsIsCloserThanWhatHasNoRoom) {
  const Shortfall slow{Miss::tpot, 1.61}, large{Miss::memory, 1.52}, slower{Miss::tpot, 2};
  EXPECT_TRUE(is_closer(slow, large));
  EXPECT_FALSE(is_closer(large, slow));
  EXPECT_TRUE(is_closer(slow, slower));
  EXPECT_TRUE(is_closer({Miss::memory, 1.2}, {Miss::offload, 1.3}));
  test::OnCards two("Qwen/Qwen3-32B", "fp8", "2x rtx-4090", "vllm");
  Target target;
  target.tpot = Seconds(15e-3);
  EXPECT_EQ(serve(two.s, target, Vary::batch).next.miss, Miss::tpot);
}

/// A fleet of one load and a plan of it need the same machines, with replicas of the attention too.
TEST(ServingOptions, ReplicasOfTheAttentionCountAsPartsOfACopy) {
  const Model& model = test::catalogue_model("deepseek-ai/DeepSeek-V2-Lite");
  const QuantisedModel weights = quantise(model, scheme("bf16"));
  const Machine machine = parse_machine("4x rtx-4090", shipped_catalogue());
  Load load{"chat", test::scenario(weights, machine, "vllm"), {}};
  load.request.context = 8192;
  load.target.users = 5000;
  load.target.attention_replicas = true;
  const Serving best = serve(load.request, load.target, Vary::batch);
  ASSERT_GT(best.attention, 1);
  const Size needed = machines_needed(best, load.request, load.target);
  const std::vector<ServingOption> options = serving_options(machine, load, false).all;
  const auto same = std::ranges::find_if(options, [&](const ServingOption& each) {
    return each.serving.attention == best.attention && each.share->replicas == best.copies();
  });
  ASSERT_NE(same, options.end());
  EXPECT_EQ(divided_up(same->copies(1), best.copies()), needed);
  const std::vector<ServingOption> one{*same};
  Fleet fleet = smallest_fleet(4, {&one, 1});
  EXPECT_EQ(fleet.machines, needed);
  const Load* const loads[] = {&load};
  use_free_parts(fleet, 4, loads);
  const AtDemand plan = at_demand(load.request, best, load.target, needed * best.replicas);
  EXPECT_EQ(fleet.stays.front().at_load.requests, plan.requests);
  EXPECT_EQ(fleet.stays.front().at_load.service.tpot, plan.service.tpot);
}

}  // namespace
}  // namespace headroom::model
