// One training step: figures of papers, memory that cards share, and effects of options.
#include "model/train/training.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>

#include "hardware/names.hpp"
#include "hardware/units.hpp"
#include "model/describe/config.hpp"
#include "model/train/factors.hpp"
#include "model/train/passes.hpp"
#include "model/train/rank.hpp"
#include "model/train/tape/execution.hpp"

namespace headroom::model {
namespace {

/// A GPT of these sizes with biases, as in the table of arXiv:2205.05198.
Model gpt(Size layers, Size hidden, Size heads) {
  const std::string text = fmt::format(
      R"({{"architectures": ["GPT2LMHeadModel"], "model_type": "gpt2", "n_layer": {}, "n_embd": {},
          "n_head": {}, "activation_function": "gelu", "vocab_size": 51200, "n_positions": 2048}})",
      layers, hidden, heads);
  return make_model("gpt", parse_config(text, "gpt.json"), "");
}

Model llama_of(Size layers = 4) {
  const std::string text = fmt::format(
      R"({{"architectures": ["LlamaForCausalLM"], "model_type": "llama", "hidden_size": 1024,
          "intermediate_size": 2816, "num_hidden_layers": {}, "num_attention_heads": 16,
          "num_key_value_heads": 4, "vocab_size": 32000, "max_position_embeddings": 4096,
          "rms_norm_eps": 1e-5}})",
      layers);
  return make_model("llama", parse_config(text, "llama.json"), "");
}

struct Step {
  explicit Step(Model m, std::string_view runtime = "trainer")
      : model(std::make_unique<Model>(std::move(m))),
        plain(std::make_unique<QuantisedModel>(counted(*model))) {
    s.model = model.get();
    s.plain = plain.get();
    s.optimizer = &optimizer("adamw");
    s.runtime = &training_runtime(runtime);
    s.zero = s.runtime->zero;
    s.recipe = &recipe(s.zero > 0 ? s.runtime->shared_recipe : s.runtime->recipe);
  }
  std::unique_ptr<Model> model;
  std::unique_ptr<QuantisedModel> plain;
  TrainingScenario s;
  TrainingEstimate operator()() const { return evaluate_training(s); }
};

/// Source: Korthikanti et al., arXiv:2205.05198, equations 1, 2 and 4 and figure 1. A layer of
/// GPT-3 in 16 bit keeps s b h (10 + 24 / t + 5 a s / (h t)) bytes. With sequence parallelism and
/// recomputed attention it keeps s b h 34 / t bytes. The paper does not count the statistics of
/// norms.
TEST(Training, PaperActivationsOfGpt) {
  const auto gib = [](Size layers, Size hidden, Size heads, Size batch, bool divided) {
    const Model model = gpt(layers, hidden, heads);
    TapeMode mode{.attention_dropout = 0.1, .hidden_dropout = 0.1};
    mode.kernels.fused_attention = mode.kernels.norm_statistics = false;
    const SavedActivations saved = saved_activations(model, usual_execution(model), mode);
    const auto& sums = saved.kinds[0].within;
    const double b = static_cast<double>(batch), s = 2048;
    const double outer = sums.outer.at(b, s, s), inner = sums.inner.at(b, s, divided ? 0 : s);
    return static_cast<double>(layers) * (outer / (divided ? 8 : 1) + inner / 8) / GiB;
  };
  EXPECT_DOUBLE_EQ(gib(48, 6144, 64, 4, false), 59.25);  // 22B, tp 8
  EXPECT_DOUBLE_EQ(gib(48, 6144, 64, 4, true), 9.5625);
  // 175B, tp 8, pp 8 of 3 chunks each. The first stage keeps 1 + 7 / 24 times the whole model's
  // activations.
  Step run(gpt(96, 256, 4), "megatron");
  run.s.parallel = {.stages = 8, .chunks = 3};
  run.s.accumulated = 64;
  const double share = passes_in_flight(run.s, 0) / 8;
  EXPECT_DOUBLE_EQ(share * gib(96, 12288, 96, 1, false), 66.84375);
  EXPECT_DOUBLE_EQ(share * gib(96, 12288, 96, 1, true), 12.3515625);
}

TEST(Training, PassesInFlight) {
  Step run(llama_of(8), "megatron");
  run.s.parallel.stages = 4;
  run.s.accumulated = 16;
  EXPECT_EQ(passes_in_flight(run.s, 0), 4);  // 1F1B: the first stage keeps one pass per stage
  EXPECT_EQ(passes_in_flight(run.s, 3), 1);
  run.s.accumulated = 2;
  EXPECT_EQ(passes_in_flight(run.s, 0), 2);
  run.s.accumulated = 16;
  run.s.parallel.chunks = 2;
  EXPECT_EQ(passes_in_flight(run.s, 0), 5.5);  // p (1 + (p - 1) / (p v)): 4 * (1 + 3 / 8)
}

TEST(Training, PaperSixteenBytesAParameterAreShared) {
  Step run(llama_of(), "deepspeed");
  const double parameters = static_cast<double>(run.model->profile.parameters);
  const auto held = [&](int zero) {
    run.s.zero = zero;
    run.s.parallel.replicas = 8;
    const TrainingEstimate e = run();
    return static_cast<double>((e.weights + e.master + e.gradients + e.states).count()) /
           parameters;
  };
  // Source: arXiv:1910.02054, figure 1. Bytes per parameter are 16, 4 + 12/n, 2 + 14/n and 16/n.
  EXPECT_NEAR(held(0), 16, 0.01);
  EXPECT_NEAR(held(1), 4 + 12.0 / 8, 0.01);
  EXPECT_NEAR(held(2), 2 + 14.0 / 8, 0.01);
  EXPECT_NEAR(held(3), 16.0 / 8, 0.01);
}

TEST(Training, CardsOfAStageShareState) {
  Step run(llama_of(), "megatron");
  const Size all = run.model->profile.parameters;
  EXPECT_EQ(elements_of_rank(run.s, 0).total(), all);
  run.s.parallel.stages = 2;
  EXPECT_EQ(elements_of_rank(run.s, 0).total() + elements_of_rank(run.s, 1).total(), all);
  run.s.parallel.stages = 1;
  run.s.parallel.tensor = 4;
  const Size norms = (2 * 4 + 1) * 1024;
  const Size padding = (32256 - 32000) * 1024 / 4 * 2;  // rows are padded to a multiple of 128 * 4
  EXPECT_EQ(elements_of_rank(run.s, 0).total(), (all - norms) / 4 + norms + padding);
}

/// The host holds the inputs of all layers but one, in 16 bit.
TEST(Training, InputsOfLayersInHostMemory) {
  Step run(llama_of());
  run.s.batch = 4;
  run.s.recipe = &recipe("pure-16bit");
  run.s.recomputation = Recomputation::full;
  const TrainingEstimate on_card = run();
  run.s.recomputation = Recomputation::offloaded;
  const TrainingEstimate e = run();
  const Model& m = *run.s.model;
  const auto layers = static_cast<Size>(m.profile.layers.size());
  const Bytes inputs(2 * run.s.batch * run.s.sequence * m.shape.hidden_size * (layers - 1));
  EXPECT_EQ(e.host - on_card.host, inputs);
  EXPECT_EQ(on_card.other - e.other, inputs);
  EXPECT_EQ(e.recomputed, on_card.recomputed);
}

TEST(Training, EveryOptionChangesTheEstimate) {
  const auto allocated = [](auto&& change) {
    Step run(llama_of());
    run.s.batch = 4;
    change(run.s);
    return run().allocated;
  };
  const Bytes base = allocated([](TrainingScenario&) {});
  const auto less = [&](auto&& change) { EXPECT_LT(allocated(change), base); };
  const auto more = [&](auto&& change) { EXPECT_GT(allocated(change), base); };
  less([](auto& s) { s.recomputation = Recomputation::full; });
  less([](auto& s) { s.fused_loss = true; });
  less([](auto& s) { s.fused_kernels = true; });
  more([](auto& s) { s.attention = AttentionKernel::eager; });
  less([](auto& s) { s.parallel.tensor = 2; });
  less([](auto& s) { s.parallel.context = 2; });
  less([](auto& s) { s.parallel.stages = 2; });
  less([](auto& s) { s.parallel.replicas = 2, s.zero = 1; });
  less([](auto& s) {
    s.runtime = &training_runtime("torch");
    s.optimizer_on_host = true;
  });
  more([](auto& s) { s.accumulated = 2; });
  more([](auto& s) { s.sequence = 4096; });
  less([](auto& s) { s.recipe = &recipe("pure-16bit"); });
  more([](auto& s) { s.factors["attention_scale"] = 2; });
  EXPECT_LT(allocated([](auto& s) { s.parallel.tensor = 2, s.parallel.sequence = true; }),
            allocated([](auto& s) { s.parallel.tensor = 2; }));
}

TEST(Training, RefusesUnevenDivisions) {
  Step run(llama_of());
  run.s.parallel.tensor = 3;
  EXPECT_THROW(run(), std::invalid_argument);
  run.s.parallel = {.stages = 1000};
  EXPECT_THROW(run(), std::invalid_argument);
  run.s.parallel = {.replicas = 2, .experts = 2};
  EXPECT_THROW(run(), std::invalid_argument);
  run.s.parallel = {};
  run.s.zero = 2;
  EXPECT_THROW(run(), std::invalid_argument);
  run.s.zero = 0;
  run.s.parameters_on_host = true;
  EXPECT_THROW(run(), std::invalid_argument);
}

TEST(Training, FactorsReplaceAndScale) {
  Step run(llama_of());
  run.s.batch = 2;
  const TrainingEstimate plain = run();
  set_factor(run.s.factors, "feed_forward_gib", 1);
  set_factor(run.s.factors, "attention_scale", 3);
  const TrainingEstimate changed = run();
  EXPECT_EQ(changed.feed_forward, Bytes(1073741824));
  EXPECT_EQ(changed.attention.count(), 3 * plain.attention.count());
  EXPECT_THROW(set_factor(run.s.factors, "attention", 1), UnknownName);
  EXPECT_THROW(set_factor(run.s.factors, "attention_scale", -1), std::invalid_argument);
}

Step sharded(std::string_view runtime, int zero, Size replicas) {
  Step run(llama_of(), runtime);
  run.s.recipe = &usual_recipe(*run.s.runtime, zero, Trained::weights);
  run.s.parallel.replicas = replicas;
  run.s.zero = zero;
  return run;
}

// DeepSpeed's stage3.py and stage_1_and_2.py: reduced gradients are on the offload device.
TEST(Training, GradientsFollowTheOptimizerToTheHost) {
  Step run = sharded("deepspeed", 2, 2);
  const TrainingEstimate on_card = run();
  ASSERT_GT(on_card.gradients, Bytes(0));
  run.s.optimizer_on_host = true;
  const TrainingEstimate two = run();
  EXPECT_EQ(two.gradients, Bytes(0));
  EXPECT_EQ(two.gradients_on_host, on_card.gradients);
  run.s.accumulated = 2;
  EXPECT_EQ(run().host, two.host + on_card.gradients) << "passes add up in 16 bit";
  run.s.accumulated = 1;
  run.s.zero = 3;
  EXPECT_EQ(run().host, two.host + on_card.gradients) << "stage 3 always keeps them";
  run.s.on_disk = true;
  EXPECT_EQ(run().gradients, Bytes(0));
  EXPECT_GE(run().host, on_card.gradients);
  run.s.on_disk = false;
  run.s.zero = 1;
  EXPECT_GT(run().gradients, Bytes(0)) << "stage 1 reduces after backward";
}

TEST(Training, MegatronKeepsItsGradientBuffers) {
  Step run = sharded("megatron", 1, 2);
  run.s.optimizer_on_host = true;
  EXPECT_GT(run().gradients, Bytes(0));
}

/// Megatron-LM's distributed optimizer keeps whole gradients. Megatron-FSDP shards them from
/// optim_grads on (param_and_grad_buffer.py, is_grad_buffer_distributed).
TEST(Training, MegatronShardsGradientsFromStage2On) {
  Step run = sharded("megatron", 1, 8);
  const TrainingEstimate one = run();
  run.s.zero = 2;
  const TrainingEstimate two = run();
  run.s.zero = 3;
  const TrainingEstimate three = run();
  EXPECT_EQ(two.gradients.count(), one.gradients.count() / 8);
  EXPECT_EQ(two.weights, one.weights);
  EXPECT_EQ(three.gradients, two.gradients);
  EXPECT_LT(three.weights, two.weights);
  EXPECT_LT(three.peak, two.peak);
}

TEST(Training, BytesBeyondTheLargestCountFail) {
  Step step(llama_of());
  step.s.batch = Size{1} << 40;
  EXPECT_THROW(step(), std::overflow_error);
}

}  // namespace
}  // namespace headroom::model
