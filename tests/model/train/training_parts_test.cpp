// Training times by precision and packing, and the parts of these times.
#include "tests/model/train/training_time_fixture.hpp"

namespace headroom::model {
namespace {

TEST(TrainingTime, MatricesBelow16BitTakeTheirUnits) {
  const Fixture f;
  TrainingScenario s = f.step("megatron");
  Machine machine = cards(1, 80_GiB);
  machine.devices.front().fp8 = FlopsPerSecond(200e12);
  TrainingEvaluator evaluate;
  const TrainingEstimate plain = evaluate(s);
  const double before =
      time_of_step(s, evaluate.shape(), plain, machine, perfect()).of(StepGroup::products).value();
  s.matrices = &matrix_format("mxfp8");
  const TrainingEstimate e = evaluate(s);
  const double head = 6 * 1024.0 * 32000 * 2048 / 100e12;
  EXPECT_NEAR(
      time_of_step(s, evaluate.shape(), e, machine, perfect()).of(StepGroup::products).value(),
      (before - head) / 2 + head, 1e-9);
  machine.devices.front().fp8.reset();
  EXPECT_EQ(outcome_of(s, e, machine).reason, Reason::precision_unsupported);
}

// pytorch pull request 148322: bf16 is computed with fp32 below compute capability 8.0.
TEST(TrainingTime, Bf16WithoutUnitsRunsAtTheRateOfFp32) {
  const Fixture f;
  TrainingScenario s = f.step();
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  Machine machine = cards(1, 80_GiB);
  const auto products = [&](ComputeCapability capability, bool bf16) {
    machine.devices.front().compute_capability = capability;
    s.bf16 = bf16;
    return time_of_step(s, evaluate.shape(), e, machine, perfect()).of(StepGroup::products).value();
  };
  const double fp16 = products({7, 5}, false);
  EXPECT_NEAR(products({7, 5}, true), 5 * fp16, 1e-9 * fp16);  // 100 and 20 TFLOPS
  EXPECT_DOUBLE_EQ(products({8, 0}, true), fp16);
}

TEST(TrainingTime, PackedSequencesAttendToTheirDocuments) {
  const Fixture f;
  TrainingScenario s = f.step();
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  const auto attention = [&] {
    return time_of_step(s, evaluate.shape(), e, cards(1, 80_GiB), perfect())
        .of(StepGroup::attention)
        .value();
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
    all.hidden += part.hidden;
  }
  return all;
}

TEST(TrainingParts, AddUpToTheStep) {
  const Fixture f;
  const Machine box = cards(8, 80_GiB);
  struct Case {
    int zero;
    Size tensor, stages, replicas;
    bool on_host, adapted;
    Recomputation again;
  };
  const Case all[] = {{0, 1, 1, 1, false, false, Recomputation::none},
                      {1, 1, 1, 8, true, false, Recomputation::full},
                      {3, 1, 1, 8, false, false, Recomputation::full},
                      {0, 1, 1, 1, false, true, Recomputation::none},
                      {1, 2, 2, 2, false, false, Recomputation::selective},
                      {0, 1, 8, 1, false, false, Recomputation::full}};
  for (const TrainingRuntime& runtime : training_runtimes())
    for (const Case& c : all)
      for (const Size accumulated : {1, 7}) {
        TrainingScenario s = f.step(runtime.name);
        s.zero = std::max(c.zero, runtime.zero);
        s.parallel.tensor = c.tensor;
        s.parallel.stages = c.stages;
        s.parallel.replicas = c.replicas;
        s.optimizer_on_host = c.on_host;
        s.parameters_on_host = c.on_host && runtime.offload.together;
        if (c.adapted) s.adapter = &f.adapter;
        s.recomputation = c.again;
        s.accumulated = accumulated;
        TrainingEvaluator evaluate;
        const TrainingEstimate e = evaluate(s);
        const StepTime t = time_of_step(s, evaluate.shape(), e, box, training_pace(runtime.name));
        const auto parts = step_parts(s, box, t.timeline);
        const double off = 1e-12 * t.total().value();
        const auto takes = [&](std::string_view phase) {
          return sum(parts, phase).seconds.value();
        };
        EXPECT_NEAR(takes(""), t.total().value(), off) << runtime.name << accumulated;
        EXPECT_NEAR(takes("forward") + takes("backward") + takes("recomputation"),
                    t.timeline.of_passes().value(), off);
        EXPECT_NEAR(takes("collectives"), t.of(StepGroup::exchange).value(), off);
        EXPECT_NEAR(takes("pipeline"), t.of(StepGroup::bubbles).value(), off);
        EXPECT_NEAR(takes("optimizer"), t.of(StepGroup::optimizer).value(), off);
        EXPECT_EQ(sum(parts, "recomputation").flops > Flops(), c.again != Recomputation::none);
        EXPECT_EQ(sum(parts, "collectives").sent > RealBytes(),
                  c.tensor * c.stages * c.replicas > 1);
      }
}

/// The parts of a step of `f` on eight cards that share states or, from stage 3 on, weights.
std::vector<StepPart> parts_of_replicas(const Fixture& f, int zero, double hidden, Seconds& total) {
  TrainingScenario s = f.step("deepspeed");
  s.zero = zero;
  s.parallel.replicas = 8;
  s.accumulated = 3;
  TrainingPace pace = perfect();
  pace.hidden.value = hidden;
  const Machine box = cards(8, 80_GiB);
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  const StepTime t = time_of_step(s, evaluate.shape(), e, box, pace);
  total = t.total();
  return step_parts(s, box, t.timeline);
}

// Exchanges keep their amounts when passes hide them; only the step gets shorter.
TEST(TrainingParts, HiddenExchangesAreSpansThatDoNotCount) {
  const Fixture f;
  for (const int zero : {1, 3}) {
    Seconds exposed_total, hidden_total, half_total;
    const auto exposed = sum(parts_of_replicas(f, zero, 0, exposed_total), "collectives");
    const auto hidden = sum(parts_of_replicas(f, zero, 1e3, hidden_total), "collectives");
    EXPECT_GT(exposed.seconds, Seconds());
    EXPECT_EQ(exposed.hidden, Seconds());
    EXPECT_EQ(hidden.seconds, Seconds());
    EXPECT_NEAR(hidden.hidden / exposed.seconds, 1, 1e-12);
    EXPECT_EQ(hidden.sent, exposed.sent);
    EXPECT_NEAR((exposed_total - hidden_total) / exposed.seconds, 1, 1e-9);
    const auto half = sum(parts_of_replicas(f, zero, 0.01, half_total), "collectives");
    EXPECT_GT(half.hidden, Seconds());
    EXPECT_NEAR((half.hidden + half.seconds) / exposed.seconds, 1, 1e-9);
    EXPECT_NEAR((exposed_total - half_total) / half.hidden, 1, 1e-9);
  }
}

// Reductions of divided matrices are on the way of every layer. Keys and values travel while the
// cards attend.
TEST(TrainingParts, OnlyKeysAndValuesHideBehindTheirOwnPass) {
  const Fixture f;
  const Machine box = cards(8, 80_GiB);
  const auto collectives = [&](Size tensor, Size context, double link) {
    TrainingScenario s = f.step("megatron");
    s.parallel.tensor = tensor;
    s.parallel.context = context;
    s.batch = 4;
    TrainingPace pace = perfect();
    pace.hidden.value = 0;
    pace.link.value = link;
    TrainingEvaluator evaluate;
    const TrainingEstimate e = evaluate(s);
    const StepTime t = time_of_step(s, evaluate.shape(), e, box, pace);
    std::vector<StepPart> parts = step_parts(s, box, t.timeline);
    std::erase_if(parts, [](const StepPart& part) {
      return part.what != "sums of divided matrices" &&
             part.what != "keys and values around the ring";
    });
    return parts;
  };
  const auto sums = collectives(2, 1, 1);
  ASSERT_EQ(sums.size(), 1);
  EXPECT_GT(sums.front().seconds, Seconds());
  EXPECT_EQ(sums.front().hidden, Seconds());
  const auto fast = collectives(1, 2, 1e6), slow = collectives(1, 2, 1e-6);
  ASSERT_EQ(fast.size(), 1);
  ASSERT_EQ(slow.size(), 1);
  EXPECT_EQ(fast.front().seconds, Seconds());
  EXPECT_GT(fast.front().hidden, Seconds());
  EXPECT_GT(slow.front().seconds, slow.front().hidden);
  EXPECT_EQ(fast.front().sent, slow.front().sent);
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
  const Machine box = cards(8, 80_GiB);
  const StepTime t = time_of_step(s, evaluate.shape(), e, box, perfect());
  const auto parts = step_parts(s, box, t.timeline);
  const double tokens = 4 * 2048;
  const double layers = 8 * (1024.0 * 2560 + 3 * 1024.0 * 2816), head = 1024.0 * 32000;
  double matrices = 0, backward = 0;
  for (const StepPart& part : parts) {
    if (part.what != "matrices of layers" && part.what != "output") continue;
    (part.phase == "forward" ? matrices : backward) += part.flops.value();
  }
  EXPECT_NEAR(matrices, 2 * tokens * (layers + head), 1e-9 * matrices);
  EXPECT_NEAR(backward, 2 * matrices, 1e-9 * matrices);
  const auto parameters = static_cast<double>(f.model.profile.parameters);
  EXPECT_NEAR(sum(parts, "collectives").sent.value(), 3 * 2 * parameters * 7 / 8,
              1e-6 * parameters);
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
  const auto products = [&] {
    return time_of_step(s, evaluate.shape(), e, cards(2, 80_GiB), perfect())
        .of(StepGroup::products)
        .value();
  };
  const double early = products();
  s.runtime = &whole;
  evaluate(s);
  EXPECT_NEAR(products() - early, 8 * 2 * 1024.0 * 2816 * 2048 / 100e12, 1e-9);
}

}  // namespace
}  // namespace headroom::model
