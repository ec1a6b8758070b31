// The time of a step: its parts, and the data that cards exchange.
#include "tests/model/train/training_time_fixture.hpp"

namespace headroom::model {
namespace {

TEST(TrainingTime, MatricesAreSixFlopsAParameterAndToken) {
  const Fixture f;
  TrainingScenario s = f.step();
  s.batch = 64;
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  const StepTime t = time_of_step(s, evaluate.shape(), e, cards(1, 80_GiB), perfect());
  // A layer has 1024 * (1024 + 2 * 256 + 1024) and 3 * 1024 * 2816 elements, the head 1024 * 32000.
  const double elements = 8 * (1024.0 * 2560 + 3 * 1024.0 * 2816) + 1024.0 * 32000;
  EXPECT_NEAR(t.of(StepGroup::products).value(), 6 * elements * 64 * 2048 / 100e12, 1e-9);
  EXPECT_EQ(t.bound, StepGroup::products);
  EXPECT_NEAR(t.tokens_s, 64 * 2048 / t.total().value(), 1e-6);
  EXPECT_LT(t.utilization, 1);
  s.recomputation = Recomputation::full;
  const StepTime again = time_of_step(s, evaluate.shape(), e, cards(1, 80_GiB), perfect());
  const double head = 1024.0 * 32000;  // outside the recomputed layers
  EXPECT_NEAR(again.of(StepGroup::products).value(),
              (8 * (elements - head) + 6 * head) * 64 * 2048 / 100e12, 1e-9);
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
    const StepTime t = time_of_step(s, evaluate.shape(), e, cards(4, 80_GiB), perfect());
    const double bubbles = t.of(StepGroup::bubbles).value();
    const double busy = t.total().value() - bubbles - t.of(StepGroup::optimizer).value();
    EXPECT_NEAR(bubbles, busy * 3 / static_cast<double>(passes), 0.02 * bubbles);
  }
}

TEST(TrainingTime, EachConstantAndEachDivisionMoves) {
  const Fixture f;
  TrainingScenario s = f.step("deepspeed");
  s.zero = 3;
  s.batch = 4;
  s.parallel.replicas = 4;
  const Machine machine = cards(8, 80_GiB);
  TrainingPace pace;
  s.runtime = &training_runtime("megatron");
  s.matrices = &matrix_format("fp8");
  const double values[] = {0.5, 0.3, 3, 5e-2, 0.05, 0.1, 0.7, 0.8};
  for (std::size_t i = 0; i < std::size(values); ++i) (pace.*pace_constants[i]).value = values[i];
  pace.layer_s.value = 0;
  const double before = seconds(s, machine, pace);
  for (std::size_t i = 0; i + 1 < std::size(values); ++i) {  // the last is for experts
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

Model mixture() {
  return make_model("mixture",
                    parse_config(R"({"architectures": ["MixtralForCausalLM"],
      "model_type": "mixtral", "hidden_size": 1024, "intermediate_size": 2816,
      "num_hidden_layers": 4, "num_attention_heads": 16, "num_key_value_heads": 4,
      "num_local_experts": 8, "num_experts_per_tok": 2, "vocab_size": 32000,
      "max_position_embeddings": 4096, "rms_norm_eps": 1e-5})",
                                 "mixture.json"),
                    "");
}

TEST(TrainingTime, GroupedProductsAreThoseOfChosenExperts) {
  const Fixture f;
  const Model model = mixture();
  const QuantisedModel plain = counted(model);
  TrainingScenario s = f.step();
  s.model = &model, s.plain = &plain;
  TrainingEvaluator evaluate;
  const TrainingEstimate e = evaluate(s);
  TrainingPace pace = perfect();
  const auto matrices = [&] {
    return time_of_step(s, evaluate.shape(), e, cards(1, 80_GiB), pace)
        .of(StepGroup::products)
        .value();
  };
  const double before = matrices();
  pace.grouped.value = 0.5;
  EXPECT_NEAR(matrices() - before, 6 * 4 * 2 * 3 * 1024.0 * 2816 * 2048 / 100e12, 1e-9);
}

TEST(TrainingTime, ScoresThatAreWrittenTakeTime) {
  const Fixture f;
  TrainingScenario s = f.step();
  TrainingPace pace = perfect();
  pace.traffic.value = 2;
  const auto traffic = [&] {
    TrainingEvaluator evaluate;
    const TrainingEstimate e = evaluate(s);
    return time_of_step(s, evaluate.shape(), e, cards(1, 80_GiB), pace)
        .of(StepGroup::traffic)
        .value();
  };
  const double fused = traffic();
  s.attention = AttentionKernel::eager;
  // At least the products of 16 heads in 16 bit move in each layer, once forward and twice
  // backward.
  EXPECT_GT(traffic() - fused, 2 * 3 * 8 * 16 * 2 * 2048.0 * 2048 / 1e12);
}

TEST(TrainingTime, LengthsOfRowsTakeTheirTimeWhateverTheTokens) {
  const Fixture f;
  const Adapter lengths =
      adapt(f.model, {.rank = 8, .targets = {"q_proj", "v_proj"}, .magnitudes = true});
  const auto weights = [&](const Adapter& adapter, Size batch) {
    TrainingScenario s = f.step();
    s.adapter = &adapter;
    s.recipe = &usual_recipe(*s.runtime, s.zero, Trained::adapters);
    s.batch = batch;
    TrainingEvaluator evaluate;
    const TrainingEstimate e = evaluate(s);
    return time_of_step(s, evaluate.shape(), e, cards(1, 80_GiB), perfect())
        .of(StepGroup::weights)
        .value();
  };
  const double once = weights(lengths, 1) - weights(f.adapter, 1);
  EXPECT_NEAR(weights(lengths, 8) - weights(f.adapter, 8), once, 1e-12);
  // At least the frozen weight and the product of the factors are read once each, in 16 bit.
  EXPECT_GT(once, 2 * 2 * 8 * (1024.0 * 1024 + 1024.0 * 256) / 1e12);
}

TEST(TrainingTime, ModulesThatAreFetchedKeepTheHostBusy) {
  const Fixture f;
  TrainingScenario s = f.step("deepspeed");
  s.zero = 3;
  s.parallel.replicas = 2;
  TrainingPace pace = perfect();
  pace.layer_s.value = 3.4e-3;
  const auto launches = [&] {
    TrainingEvaluator evaluate;
    const TrainingEstimate e = evaluate(s);
    const StepTime t = time_of_step(s, evaluate.shape(), e, cards(2, 80_GiB), pace);
    return t.timeline.of_passes().value();
  };
  EXPECT_NEAR(launches(), 8 * (34 + 130) / 34.0 * 3.4e-3, 1e-9);
  s.zero = 2;
  EXPECT_LT(launches(), 8 * 40 / 34.0 * 3.4e-3);
}

TEST(TrainingPaces, KernelsOfARuntimeCountOnTheirGeneration) {
  Device card;
  card.name = "a card of no row";
  card.vendor = "NVIDIA";
  card.compute_capability = ComputeCapability{9, 0};
  double expected = training_pace("megatron").compute.value;
  bool own = false;
  for (const CardPace& each : card_paces()) {
    if (each.cards != "sm_9" || (each.runtime != "any" && each.runtime != "megatron")) continue;
    expected *= each.compute.value;
    own = own || each.runtime == "megatron";
  }
  EXPECT_TRUE(own);
  EXPECT_NEAR(training_pace("megatron", card).compute.value, expected, 1e-12);
}

}  // namespace
}  // namespace headroom::model
