// Data that cards of a training step exchange, and the time that links take for it.
#include <gtest/gtest.h>

#include <cmath>

#include "model/infer/estimate.hpp"
#include "model/train/exchange.hpp"
#include "tests/model/train/training_fixture.hpp"

namespace headroom::model {
namespace {

using namespace literals;

/// Boxes of 8 cards with 300 GB/s inside, and 200 GB/s of network for all eight.
Machine boxes(std::size_t n) {
  Machine machine = cards(static_cast<int>(n), 80_GiB);
  for (Device& card : machine.devices) card.link = BytesPerSecond(300e9);
  machine.host.card_link = BytesPerSecond(0);
  machine.host.cards = 8;
  machine.host.network = BytesPerSecond(200e9);
  return machine;
}

// Source: nccl-tests, doc/PERFORMANCE.md. A ring over whole boxes is as fast as all their
// interfaces. With several groups, each ring gets its share of them.
TEST(TrainingExchange, GroupsOfABoxShareItsNetwork) {
  const Machine machine = boxes(64);
  EXPECT_DOUBLE_EQ(ring_rate(machine, {8, 1}).value(), 300e9);   // one box
  EXPECT_DOUBLE_EQ(ring_rate(machine, {64, 1}).value(), 200e9);  // all cards of eight boxes
  EXPECT_DOUBLE_EQ(ring_rate(machine, {32, 2}).value(), 100e9);  // two groups in each box
  EXPECT_DOUBLE_EQ(ring_rate(machine, {8, 8}).value(), 25e9);    // eight groups in each box
  EXPECT_DOUBLE_EQ(ring_rate(machine, {4, 16}).value(), 25e9);   // a card in every second box
  EXPECT_DOUBLE_EQ(ring_rate(machine, {4, 2}).value(), 300e9);   // within a box
  EXPECT_DOUBLE_EQ(ring_seconds(machine, {64, 1}, RealBytes(200e9)).value(), 63.0 / 64);
  EXPECT_EQ(ring_seconds(machine, {1, 1}, RealBytes(200e9)), Seconds());
  // A group's bytes shrink in proportion to its share of the network. Dividing matrices therefore
  // does not slow down gradients.
  EXPECT_NEAR(ring_seconds(machine, {32, 2}, RealBytes(100e9)) /
                  ring_seconds(machine, {64, 1}, RealBytes(200e9)),
              1, 0.02);
}

TEST(TrainingExchange, AllToAllLeavesTheBoxByEachCardsOwnPart) {
  const Machine machine = boxes(64);
  EXPECT_DOUBLE_EQ(all_to_all_seconds(machine, {8, 1}, RealBytes(8e9)).value(), 7e9 / 300e9);
  EXPECT_DOUBLE_EQ(all_to_all_seconds(machine, {64, 1}, RealBytes(64e9)).value(), 56e9 / 25e9);
  // Eight copies go to eight boxes at random, but a box receives at most one: 1 - (7/8)^8 for each
  // other box.
  EXPECT_NEAR(all_to_all_seconds(machine, {64, 1}, RealBytes(64e9), 8).value(),
              8e9 * 7 * (1 - std::pow(7.0 / 8, 8)) / 25e9, 1e-9);
}

// 8 layers of 4 key-value heads of 64, 2 sequences of 2048 tokens, in 16 bit. The other card's half
// travels forward, back, and with the gradients.
TEST(TrainingExchange, KeysAndValuesGoAroundThoseWhoDivideASequence) {
  const Fixture f;
  TrainingScenario s = f.step("megatron");
  s.batch = 2;
  s.parallel.context = 2;
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  const auto keys = [&] {
    return exchange_of(s, evaluate.shape().stages.front(), e, {.stage = stage_of(s, 0)}, boxes(8))
        .keys;
  };
  const double all = 2 * 2 * 2048.0 * 8 * 2 * 4 * 64;
  EXPECT_DOUBLE_EQ(keys().bytes.value(), 3 * all / 2);
  EXPECT_DOUBLE_EQ(keys().seconds.value(), 3 * all / 2 / 300e9);
  s.parallel.tensor = 8;  // more cards than heads, so two cards have the same head
  EXPECT_DOUBLE_EQ(keys().bytes.value(), 3 * all / 4 / 2);
  s.parallel.context = 1;
  EXPECT_EQ(keys().bytes, RealBytes());
}

}  // namespace
}  // namespace headroom::model
