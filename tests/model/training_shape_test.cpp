// Steps one after another, verdicts on a machine, and the time of a step.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "model/config.hpp"
#include "model/training/advice.hpp"
#include "model/training/exchange.hpp"
#include "model/training/outcome.hpp"
#include "model/training/rank.hpp"
#include "model/training/shape.hpp"
#include "model/training/time.hpp"

namespace headroom::model {
namespace {

constexpr Bytes GiB{Size{1} << 30};

Model llama() {
  return make_model("llama",
                    parse_config(R"({"architectures": ["LlamaForCausalLM"],
      "model_type": "llama", "hidden_size": 1024, "intermediate_size": 2816,
      "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 4,
      "vocab_size": 32000, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5})",
                                 "llama.json"),
                    "");
}

struct Fixture {
  Model model = llama();
  Weights plain = counted(model);
  Adapter adapter = adapt(model, {.rank = 8, .targets = {"q_proj", "v_proj"}});
  TrainingScenario step(std::string_view runtime = "trainer") const {
    TrainingScenario s;
    s.model = &model;
    s.plain = &plain;
    s.optimizer = &optimizer("adamw");
    s.runtime = &training_runtime(runtime);
    s.zero = s.runtime->zero;
    s.recipe = &usual_recipe(*s.runtime, s.zero, false);
    return s;
  }
};

Machine cards(int n, Bytes memory) {
  Machine machine;
  Device card;
  card.name = "card";
  card.memory = memory;
  card.bandwidth = BytesPerSecond(1e12);
  card.bf16 = card.fp16 = FlopsPerSecond(100e12);
  card.fp32 = FlopsPerSecond(20e12);
  card.link = BytesPerSecond(100e9);
  card.link_kind = "link";
  machine.devices.assign(static_cast<std::size_t>(n), card);
  machine.host.ram = GiB;
  machine.host.disk = Bytes(0);
  return machine;
}

TEST(TrainingShape, AnEvaluatorForgetsNothingThatMatters) {
  const Fixture f;
  std::vector<TrainingScenario> all(16, f.step());
  all[1].batch = 4;
  all[2].sequence = 512;
  all[3].adapter = &f.adapter;
  all[4].recipe = &recipe("pure-16bit");
  all[5].recomputation = Recomputation::full;
  all[6].optimizer = &optimizer("adafactor");
  all[7].parallel.replicas = 4, all[7].zero = 3;
  all[8].parallel.tensor = 2;
  all[9].parallel.stages = 2;
  all[10].fused_attention = false;
  all[11].fused_kernels = true;
  all[12] = f.step("megatron");
  all[13].accumulated = 4;
  all[14].parallel.context = 2;
  all[15].optimizer_on_host = true;
  TrainingEvaluator evaluate;
  for (int round = 0; round < 2; ++round)
    for (std::size_t i = 0; i < all.size(); ++i) {
      const TrainingEstimate fresh = evaluate_training(all[i]), again = evaluate(all[i]);
      EXPECT_EQ(fresh.peak, again.peak) << i;
      EXPECT_EQ(fresh.states, again.states) << i;
      EXPECT_EQ(fresh.activations, again.activations) << i;
      EXPECT_EQ(fresh.host, again.host) << i;
      EXPECT_TRUE(again.terms.empty());
    }
}

TEST(TrainingOutcome, IsDecidedByTheLastByte) {
  const Fixture f;
  const TrainingScenario s = f.step();
  const TrainingEstimate e = evaluate_training(s);
  const Estimate fits = outcome_of(s, e, cards(1, e.peak));
  EXPECT_EQ(fits.verdict, Verdict::fits_one_gpu);
  EXPECT_EQ(fits.sure, Sure::marginal);
  EXPECT_EQ(outcome_of(s, e, cards(1, e.peak_high)).sure, Sure::yes);
  const Estimate short_of = outcome_of(s, e, cards(1, e.peak - Bytes(1)));
  EXPECT_EQ(short_of.verdict, Verdict::does_not_fit);
  EXPECT_EQ(short_of.short_bytes, Bytes(1));
  EXPECT_EQ(short_of.reason, Reason::gpu_memory);
}

TEST(TrainingOutcome, TheHostHoldsWhatAllCardsPutThere) {
  const Fixture f;
  TrainingScenario s = f.step("deepspeed");
  s.parallel.replicas = 2;
  s.zero = 1;
  s.optimizer_on_host = true;
  const TrainingEstimate e = evaluate_training(s);
  Machine machine = cards(2, 80 * GiB);
  machine.host.ram = 2 * e.host;
  EXPECT_EQ(outcome_of(s, e, machine).verdict, Verdict::fits_cpu_offload);
  machine.host.ram = 2 * e.host - Bytes(1);
  EXPECT_EQ(outcome_of(s, e, machine).reason, Reason::ram);
  EXPECT_EQ(outcome_of(s, e, cards(1, 80 * GiB)).reason, Reason::not_enough_gpus);
}

TEST(TrainingOutcome, RefusalsSayWhy) {
  const Fixture f;
  const auto refusal = [](const TrainingScenario& s) {
    try {
      evaluate_training(s);
    } catch (const ImpossibleStep& impossible) {
      return impossible.reason;
    }
    return Reason::none;
  };
  TrainingScenario s = f.step();
  EXPECT_EQ(refusal(s), Reason::none);
  s.zero = 2;
  EXPECT_EQ(refusal(s), Reason::nothing_shared);
  s = f.step(), s.parallel.tensor = 3;
  EXPECT_EQ(refusal(s), Reason::heads_not_divisible);
  s = f.step(), s.parallel.stages = 11;  // of 8 layers, the embedding and the head
  EXPECT_EQ(refusal(s), Reason::layers_not_divisible);
  s = f.step(), s.parallel.experts = 2;
  EXPECT_EQ(refusal(s), Reason::no_experts);
  s = f.step(), s.parallel.context = 3;
  EXPECT_EQ(refusal(s), Reason::tokens_not_divisible);
}

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
  const double values[] = {0.5, 0.3, 3, 5e-2, 0.05, 0.1, 0.7};
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
  Machine machine = cards(n, 80 * GiB);
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

TEST(TrainingShape, StagesAreUnevenWhereLayersDoNotDivide) {
  const Fixture f;  // 8 layers; with embedding and head 10 pieces
  TrainingScenario s = f.step("megatron");
  s.parallel.stages = 5;
  const Size ends[] = {1, 3, 5, 7, 8};
  for (Size stage = 0; stage < 5; ++stage) {
    EXPECT_EQ(stage_of(s, stage).last, ends[stage]);
    EXPECT_EQ(stage_of(s, stage).first, stage == 0 ? 0 : ends[stage - 1]);
  }
  s.parallel.stages = 4;
  for (Size stage = 0; stage < 4; ++stage) EXPECT_EQ(stage_of(s, stage).last, 2 * stage + 2);
}

// Transformer Engine keeps the inputs of products in a byte and two copies of each weight; torchao
// keeps them as they are.
TEST(TrainingMatrices, KeptQuantisedByTransformerEngineAlone) {
  const Fixture f;
  TrainingScenario s = f.step("megatron");
  const TrainingEstimate plain = evaluate_training(s);
  s.matrices = &matrix_format("fp8");
  const TrainingEstimate fp8 = evaluate_training(s);
  // Of a layer in 16 bit: two norms' outputs and the gated product, not attention's output, which
  // attention itself keeps; in 8 bit a byte for each of the four.
  const Size tokens = s.batch * s.sequence, layers = 8;
  EXPECT_EQ((plain.activations - fp8.activations).count(),
            layers * tokens * (1024 + 1024 + 2816 - 1024));
  const Size matrices = layers * (1024 * 2560 + 3 * 1024 * 2816 + 2 * 1024);
  EXPECT_EQ((fp8.scratch - plain.scratch).count(), 2 * matrices);
  TrainingScenario ao = f.step("fsdp2");
  const TrainingEstimate before = evaluate_training(ao);
  ao.matrices = &matrix_format("fp8");
  EXPECT_EQ(evaluate_training(ao).peak, before.peak);
  TrainingScenario none = f.step("trainer");
  none.matrices = &matrix_format("fp8");
  EXPECT_THROW(evaluate_training(none), ImpossibleStep);
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

TEST(TrainingAdvice, PairsWhereNoSingleChangeIsEnough) {
  const Fixture f;
  TrainingScenario s = f.step("deepspeed");
  s.batch = 8;
  const auto changes = [&](Bytes card) { return changes_that_save(s, cards(1, card)); };
  const auto singles = changes(Bytes(1));
  Bytes least = singles.front().peak;
  for (const Change& each : singles) least = std::min(least, each.peak);
  // A card that the best single change just fits has no pairs; with a byte less it has.
  for (const Change& each : changes(least)) EXPECT_EQ(each.flags.find(" --c"), std::string::npos);
  const auto pairs = changes(least - Bytes(1));
  ASSERT_TRUE(pairs.front().fits);
  EXPECT_LT(pairs.front().peak, least);
  EXPECT_GT(std::ranges::count(pairs.front().flags, '-'), 2);
  EXPECT_EQ(std::ranges::count_if(pairs, &Change::fits), 5);
  EXPECT_FALSE(pairs.back().fits);
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
