// Training times by precision and packing, and the parts of these times.
#include "training_time_fixture.hpp"

namespace headroom::model {
namespace {

TEST(TrainingTime, MatricesBelow16BitTakeTheirUnits) {
  const Fixture f;
  TrainingScenario s = f.step("megatron");
  Machine machine = cards(1, 80_GiB);
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
    return time_of_step(s, evaluate.shape(), e, cards(1, 80_GiB), perfect()).attention;
  };
  const double whole = attention();
  s.document = s.sequence / 8;
  EXPECT_NEAR(attention(), whole / 8, 1e-12);
  s.document = 2 * s.sequence;
  EXPECT_DOUBLE_EQ(attention(), whole);
}

/// Sums over the parts of `phase`, or over all parts.
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
  const Machine box = cards(8, 80_GiB);
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

// Each parameter and token takes two FLOPs forward and four backward. A ring of n cards sends (n -
// 1) / n of the weights, 2 bytes each, once forward and once backward. It sends as much of
// gradients once. Source: ZeRO, arXiv:1910.02054, section 7, three times the parameters.
TEST(TrainingParts, CountProductsAndTransfers) {
  const Fixture f;
  TrainingScenario s = f.step("deepspeed");
  s.zero = 3;
  s.parallel.replicas = 8;
  s.batch = 4;
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  const auto parts = step_parts(s, evaluate.shape(), e, cards(8, 80_GiB), perfect());
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
  const double early = time_of_step(s, evaluate.shape(), e, cards(2, 80_GiB), perfect()).matrices;
  s.runtime = &whole;
  evaluate(s);
  const double all = time_of_step(s, evaluate.shape(), e, cards(2, 80_GiB), perfect()).matrices;
  EXPECT_NEAR(all - early, 8 * 2 * 1024.0 * 2816 * 2048 / 100e12, 1e-9);
}

}  // namespace
}  // namespace headroom::model
