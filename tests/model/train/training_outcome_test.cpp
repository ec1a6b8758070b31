// Verdicts on a machine, and steps that an engine refuses.
#include <gtest/gtest.h>

#include "model/answer/training_advice.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/outcome.hpp"
#include "model/train/shape.hpp"
#include "tests/model/train/training_fixture.hpp"

namespace headroom::model {
namespace {

using namespace literals;

TEST(TrainingOutcome, IsDecidedByTheLastByte) {
  const Fixture f;
  const TrainingScenario s = f.step();
  const TrainingEstimate e = evaluate_training(s);
  const Estimate fits = outcome_of(s, e, cards(1, e.peak));
  EXPECT_EQ(fits.verdict, Verdict::fits_one_gpu);
  EXPECT_EQ(fits.sure, Confidence::marginal);
  EXPECT_EQ(outcome_of(s, e, cards(1, e.peak_high)).sure, Confidence::yes);
  const Estimate short_of = outcome_of(s, e, cards(1, e.peak - Bytes(1)));
  EXPECT_EQ(short_of.verdict, Verdict::does_not_fit);
  EXPECT_EQ(short_of.short_bytes, Bytes(1));
  EXPECT_EQ(short_of.reason, Reason::gpu_memory);
}

TEST(TrainingOutcome, HostMemoryCoversAllCards) {
  const Fixture f;
  TrainingScenario s = f.step("deepspeed");
  s.parallel.replicas = 2;
  s.zero = 1;
  s.optimizer_on_host = true;
  const TrainingEstimate e = evaluate_training(s);
  Machine machine = cards(2, 80_GiB);
  machine.host.ram = 2 * e.host;
  EXPECT_EQ(outcome_of(s, e, machine).verdict, Verdict::fits_cpu_offload);
  machine.host.ram = 2 * e.host - Bytes(1);
  EXPECT_EQ(outcome_of(s, e, machine).reason, Reason::ram);
  EXPECT_EQ(outcome_of(s, e, cards(1, 80_GiB)).reason, Reason::not_enough_gpus);
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
  s.optimizer_on_host = true;
  EXPECT_EQ(refusal(s), Reason::nothing_shared);  // not yet DeepSpeed's
  s.runtime = &under_zero(*s.runtime, s.zero);
  EXPECT_EQ(refusal(s), Reason::none);
  s = f.step(), s.parallel.tensor = 3;
  EXPECT_EQ(refusal(s), Reason::heads_not_divisible);
  s = f.step(), s.parallel.stages = 11;  // more than 8 layers, the embedding and the head
  EXPECT_EQ(refusal(s), Reason::layers_not_divisible);
  s = f.step(), s.parallel.experts = 2;
  EXPECT_EQ(refusal(s), Reason::no_experts);
  s = f.step(), s.parallel.context = 3;
  EXPECT_EQ(refusal(s), Reason::tokens_not_divisible);
}

// DeepSpeed docs/_pages/config-json.md (offload_optimizer), runtime/engine.py (autotp);
// torch.distributed.fsdp CPUOffload.
TEST(TrainingOutcome, EnginesOffloadAndSplitOnlyAsTheyCan) {
  const Fixture f;
  struct Case {
    std::string_view runtime;
    int zero;
    bool states, weights, disk;
    Size tensor;
    Reason reason;
  };
  using enum Reason;
  for (const Case& c : {Case{"deepspeed", 0, true, false, false, 1, nothing_shared},
                        {"trainer", 0, true, false, false, 1, nothing_shared},
                        {"llama-factory", 0, true, false, false, 1, nothing_shared},
                        {"deepspeed", 1, true, false, false, 1, none},
                        {"deepspeed", 2, true, false, true, 1, offload_unsupported},
                        {"deepspeed", 3, true, false, true, 1, none},
                        {"fsdp2", 3, true, false, false, 1, offload_unsupported},
                        {"fsdp2", 3, false, true, false, 1, offload_unsupported},
                        {"fsdp", 3, true, true, false, 1, none},
                        {"fsdp", 3, true, true, true, 1, offload_unsupported},
                        {"megatron", 1, true, false, false, 1, none},
                        {"megatron", 1, true, false, true, 1, offload_unsupported},
                        {"deepspeed", 2, false, false, false, 2, none},
                        {"deepspeed", 3, false, false, false, 2, parallelism_unsupported},
                        {"llama-factory", 3, false, false, false, 2, parallelism_unsupported},
                        {"fsdp2", 3, false, false, false, 2, none}}) {
    TrainingScenario s = f.step(c.runtime);
    s.parallel = {.replicas = 2, .tensor = c.tensor};
    s.zero = c.zero;
    s.runtime = &under_zero(*s.runtime, c.zero);
    s.optimizer_on_host = c.states;
    s.parameters_on_host = c.weights;
    s.on_disk = c.disk;
    Reason found = none;
    try {
      evaluate_training(s);
    } catch (const ImpossibleStep& impossible) {
      found = impossible.reason;
    }
    EXPECT_EQ(found, c.reason) << c.runtime << ' ' << c.zero;
  }
}

TEST(TrainingOutcome, SequencesEndWithLearnedPositions) {
  const Model gpt2 = make_model(
      "gpt2",
      parse_config(R"({"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_embd": 64,
  "n_layer": 2, "n_head": 4, "n_positions": 512, "vocab_size": 1000})",
                   "gpt2.json"),
      "");
  const QuantisedModel plain = counted(gpt2);
  const Fixture f;
  TrainingScenario s = f.step();
  EXPECT_EQ(usual_sequence(*s.model), 2048);
  s.sequence = 8192;  // rotations have no end
  EXPECT_NO_THROW(evaluate_training(s));
  s.model = &gpt2, s.plain = &plain;
  s.sequence = usual_sequence(gpt2);
  EXPECT_EQ(s.sequence, 512);
  EXPECT_NO_THROW(evaluate_training(s));
  s.sequence = 513;
  EXPECT_THROW(evaluate_training(s), ImpossibleStep);
  s.sequence = 128;
  EXPECT_EQ(longest_sequence(s, 80_GiB), 512);
}

}  // namespace
}  // namespace headroom::model
