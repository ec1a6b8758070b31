// The time of a step: its parts, and what cards send each other.
#include <gtest/gtest.h>

#include <cmath>

#include "model/training/exchange.hpp"
#include "model/training/outcome.hpp"
#include "model/training/shape.hpp"
#include "model/training/step_parts.hpp"
#include "model/training/time.hpp"
#include "tests/model/training_fixture.hpp"

namespace headroom::model {
namespace {

TrainingPace perfect() {
  TrainingPace pace;
  for (const auto member : pace_constants) (pace.*member).value = 1;
  pace.traffic.value = 0;
  pace.layer_s.value = 0;
  return pace;
}

double seconds(const TrainingScenario& s, const Machine& machine, const TrainingPace& pace) {
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  return time_of_step(s, evaluate.shape(), e, machine, pace).total;
}

TEST(TrainingTime, MatricesAreSixFlopsAParameterAndToken) {
  const Fixture f;
  TrainingScenario s = f.step();
  s.batch = 64;
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  const StepTime t = time_of_step(s, evaluate.shape(), e, cards(1, 80 * GiB), perfect());
  // Of a layer: 1024 * (1024 + 2 * 256 + 1024) and 3 * 1024 * 2816; the head 1024 * 32000.
  const double elements = 8 * (1024.0 * 2560 + 3 * 1024.0 * 2816) + 1024.0 * 32000;
  EXPECT_NEAR(t.matrices, 6 * elements * 64 * 2048 / 100e12, 1e-9);
  EXPECT_EQ(t.bound, "matrices");
  EXPECT_NEAR(t.tokens_s, 64 * 2048 / t.total, 1e-6);
  EXPECT_LT(t.utilization, 1);
  s.recomputation = Recomputation::full;
  const StepTime again = time_of_step(s, evaluate.shape(), e, cards(1, 80 * GiB), perfect());
  const double head = 1024.0 * 32000;  // which is outside the layers that are made again
  EXPECT_NEAR(again.matrices, (8 * (elements - head) + 6 * head) * 64 * 2048 / 100e12, 1e-9);
  EXPECT_LT(again.utilization, t.utilization);
}

TEST(TrainingTime, BubblesAreStagesLessOneOverPasses) {
  const Fixture f;
  TrainingScenario s = f.step("megatron");
  s.parallel.stages = 4;
  TrainingEvaluator evaluate;
  for (const Size passes : {4, 8, 32}) {
    s.accumulated = passes;
    const TrainingEstimate e = evaluate(s);
    const StepTime t = time_of_step(s, evaluate.shape(), e, cards(4, 80 * GiB), perfect());
    const double busy = t.total - t.bubble - t.optimizer;
    EXPECT_NEAR(t.bubble, busy * 3 / static_cast<double>(passes), 0.02 * t.bubble);
  }
}

TEST(TrainingTime, EachConstantAndEachDivisionMoves) {
  const Fixture f;
  TrainingScenario s = f.step("deepspeed");
  s.zero = 3;
  s.batch = 4;
  s.parallel.replicas = 4;
  const Machine machine = cards(8, 80 * GiB);
  TrainingPace pace;
  s.runtime = &training_runtime("megatron");
  s.matrices = &matrix_format("fp8");
  const double values[] = {0.5, 0.3, 3, 5e-2, 0.05, 0.1, 0.7, 0.8};
  for (std::size_t i = 0; i < std::size(values); ++i) (pace.*pace_constants[i]).value = values[i];
  pace.layer_s.value = 0;
  const double before = seconds(s, machine, pace);
  for (std::size_t i = 0; i < std::size(values); ++i) {
    TrainingPace moved = pace;
    (moved.*pace_constants[i]).value = i == 3 ? values[3] : 1.3 * values[i];
    EXPECT_GT(std::abs(std::log(seconds(s, machine, moved) / before)), 1e-4) << pace_names[i];
  }
  TrainingScenario tensor = s;
  tensor.parallel.tensor = 2;
  EXPECT_NE(seconds(tensor, machine, pace), before);
  TrainingScenario host = s;
  host.optimizer_on_host = true;
  Machine slow = machine;
  slow.host.ram_bandwidth = BytesPerSecond(50e9);
  slow.host.host_bus = BytesPerSecond(20e9);
  EXPECT_GT(seconds(host, slow, pace), seconds(s, slow, pace));
}

/// Boxes of 8 cards: 300 GB/s inside, 200 GB/s of network for all eight.
Machine boxes(std::size_t n) {
  Machine machine = cards(static_cast<int>(n), 80 * GiB);
  for (Device& card : machine.devices) card.link = BytesPerSecond(300e9);
  machine.host.card_link = BytesPerSecond(0);
  machine.host.cards = 8;
  machine.host.network = BytesPerSecond(200e9);
  return machine;
}

// nccl-tests, doc/PERFORMANCE.md: a ring over whole boxes is as fast as all their interfaces; each
// of the rings of several groups has its part of them.
TEST(TrainingExchange, GroupsOfABoxShareItsNetwork) {
  const Machine machine = boxes(64);
  EXPECT_DOUBLE_EQ(ring_rate(machine, {8, 1}), 300e9);   // one box
  EXPECT_DOUBLE_EQ(ring_rate(machine, {64, 1}), 200e9);  // all cards of eight boxes
  EXPECT_DOUBLE_EQ(ring_rate(machine, {32, 2}), 100e9);  // two groups in each box
  EXPECT_DOUBLE_EQ(ring_rate(machine, {8, 8}), 25e9);    // eight
  EXPECT_DOUBLE_EQ(ring_rate(machine, {4, 16}), 25e9);   // a card in every second box
  EXPECT_DOUBLE_EQ(ring_rate(machine, {4, 2}), 300e9);   // within a box
  EXPECT_DOUBLE_EQ(ring_seconds(machine, {64, 1}, 200e9), 63.0 / 64);
  EXPECT_DOUBLE_EQ(ring_seconds(machine, {1, 1}, 200e9), 0);
  // The bytes of a group shrink as its part of the network does: dividing matrices costs gradients
  // nothing.
  EXPECT_NEAR(ring_seconds(machine, {32, 2}, 100e9) / ring_seconds(machine, {64, 1}, 200e9), 1,
              0.02);
}

TEST(TrainingExchange, AllToAllLeavesTheBoxByEachCardsOwnPart) {
  const Machine machine = boxes(64);
  EXPECT_DOUBLE_EQ(all_to_all_seconds(machine, {8, 1}, 8e9), 7e9 / 300e9);
  EXPECT_DOUBLE_EQ(all_to_all_seconds(machine, {64, 1}, 64e9), 56e9 / 25e9);
}

TEST(TrainingTime, MatricesBelow16BitTakeTheirUnits) {
  const Fixture f;
  TrainingScenario s = f.step("megatron");
  Machine machine = cards(1, 80 * GiB);
  machine.devices.front().fp8 = FlopsPerSecond(200e12);
  TrainingEvaluator evaluate;
  const TrainingEstimate plain = evaluate(s);
  const double before = time_of_step(s, evaluate.shape(), plain, machine, perfect()).matrices;
  s.matrices = &matrix_format("mxfp8");
  const TrainingEstimate e = evaluate(s);
  const double head = 6 * 1024.0 * 32000 * 2048 / 100e12;
  EXPECT_NEAR(time_of_step(s, evaluate.shape(), e, machine, perfect()).matrices,
              (before - head) / 2 + head, 1e-9);
  machine.devices.front().fp8.reset();
  EXPECT_EQ(outcome_of(s, e, machine).reason, Reason::precision_unsupported);
}

TEST(TrainingTime, PackedSequencesAttendToTheirDocuments) {
  const Fixture f;
  TrainingScenario s = f.step();
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  const auto attention = [&] {
    return time_of_step(s, evaluate.shape(), e, cards(1, 80 * GiB), perfect()).attention;
  };
  const double whole = attention();
  s.document = s.sequence / 8;
  EXPECT_NEAR(attention(), whole / 8, 1e-12);
  s.document = 2 * s.sequence;
  EXPECT_DOUBLE_EQ(attention(), whole);
}

/// Sums over the parts of `phase`, or of all.
StepPart sum(const std::vector<StepPart>& parts, std::string_view phase = "") {
  StepPart all{.phase = phase, .what = "", .rate = ""};
  for (const StepPart& part : parts) {
    if (!phase.empty() && part.phase != phase) continue;
    all.flops += part.flops;
    all.bytes += part.bytes;
    all.sent += part.sent;
    all.seconds += part.seconds;
  }
  return all;
}

TEST(TrainingParts, AddUpToTheStep) {
  const Fixture f;
  const Machine box = cards(8, 80 * GiB);
  struct Case {
    std::string_view runtime;
    int zero;
    Size tensor, stages, replicas;
    bool on_host, adapted;
    Recomputation again;
  };
  const Case all[] = {{"trainer", 0, 1, 1, 1, false, false, Recomputation::none},
                      {"deepspeed", 1, 1, 1, 8, true, false, Recomputation::full},
                      {"deepspeed", 3, 1, 1, 8, false, false, Recomputation::full},
                      {"trainer", 0, 1, 1, 1, false, true, Recomputation::none},
                      {"megatron", 1, 2, 2, 2, false, false, Recomputation::selective},
                      {"megatron", 0, 1, 8, 1, false, false, Recomputation::full}};
  for (const Case& c : all)
    for (const Size accumulated : {1, 8}) {
      TrainingScenario s = f.step(c.runtime);
      s.zero = c.zero;
      s.parallel.tensor = c.tensor;
      s.parallel.stages = c.stages;
      s.parallel.replicas = c.replicas;
      s.optimizer_on_host = c.on_host;
      if (c.adapted) s.adapter = &f.adapter;
      s.recomputation = c.again;
      s.accumulated = accumulated;
      TrainingEvaluator evaluate;
      const TrainingEstimate e = evaluate(s);
      const TrainingPace& pace = training_pace(c.runtime);
      const StepTime t = time_of_step(s, evaluate.shape(), e, box, pace);
      const auto parts = step_parts(s, evaluate.shape(), e, box, pace);
      const double off = 1e-12 * t.total;
      EXPECT_NEAR(sum(parts).seconds, t.total, off) << c.runtime << accumulated;
      EXPECT_NEAR(sum(parts, "collectives").seconds, t.exchange, off);
      EXPECT_NEAR(sum(parts, "pipeline").seconds, t.bubble, off);
      EXPECT_NEAR(sum(parts, "optimizer").seconds, t.optimizer, off);
      EXPECT_EQ(sum(parts, "recomputation").flops > 0, c.again != Recomputation::none);
      EXPECT_EQ(sum(parts, "collectives").sent > 0, c.tensor * c.stages * c.replicas > 1);
    }
}

// Two FLOPs a parameter and token forward, four backward; a ring of n cards sends (n - 1) / n of
// the weights, 2 bytes each, for forward and for backward, and as much of gradients once (ZeRO,
// arXiv:1910.02054, section 7: three times the parameters).
TEST(TrainingParts, AreWhatIsMultipliedAndSent) {
  const Fixture f;
  TrainingScenario s = f.step("deepspeed");
  s.zero = 3;
  s.parallel.replicas = 8;
  s.batch = 4;
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  const auto parts = step_parts(s, evaluate.shape(), e, cards(8, 80 * GiB), perfect());
  const double tokens = 4 * 2048;
  const double layers = 8 * (1024.0 * 2560 + 3 * 1024.0 * 2816), head = 1024.0 * 32000;
  double matrices = 0, backward = 0;
  for (const StepPart& part : parts) {
    if (part.what != "matrices of layers" && part.what != "output") continue;
    (part.phase == "forward" ? matrices : backward) += part.flops;
  }
  EXPECT_NEAR(matrices, 2 * tokens * (layers + head), 1e-9 * matrices);
  EXPECT_NEAR(backward, 2 * matrices, 1e-9 * matrices);
  const auto parameters = static_cast<double>(f.model.profile.parameters);
  EXPECT_NEAR(sum(parts, "collectives").sent, 3 * 2 * parameters * 7 / 8, 1e-6 * parameters);
}

TEST(TrainingTime, LayersThatStopEarlyLeaveOutTheirLastMatrix) {
  const Fixture f;
  TrainingScenario s = f.step("fsdp");
  s.parallel.replicas = 2;
  s.recomputation = Recomputation::full;
  TrainingRuntime whole = *s.runtime;
  whole.stops_early = false;
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  const double early = time_of_step(s, evaluate.shape(), e, cards(2, 80 * GiB), perfect()).matrices;
  s.runtime = &whole;
  evaluate(s);
  const double all = time_of_step(s, evaluate.shape(), e, cards(2, 80 * GiB), perfect()).matrices;
  EXPECT_NEAR(all - early, 8 * 2 * 1024.0 * 2816 * 2048 / 100e12, 1e-9);
}

}  // namespace
}  // namespace headroom::model
