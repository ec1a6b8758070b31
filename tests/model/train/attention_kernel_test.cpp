// Memory that kernels of attention keep: masks for windows, scores, wider values.
#include "model/train/attention_kernel.hpp"

#include <gtest/gtest.h>

#include "tests/model/train/training_time_fixture.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

constexpr Size tokens_each = 8192;
constexpr AttentionKernel eager = AttentionKernel::eager, sdpa = AttentionKernel::sdpa,
                          flash = AttentionKernel::flash_attention;

/// A step of one sequence in 16 bit, that keeps every layer.
struct KernelStep {
  Model model;
  QuantisedModel plain = counted(model);
  explicit KernelStep(Model m) : model(std::move(m)) {}
  TrainingScenario with(AttentionKernel kernel, std::string_view runtime = "trainer") const {
    TrainingScenario s;
    s.model = &model;
    s.plain = &plain;
    s.optimizer = &optimizer("adamw");
    s.runtime = &training_runtime(runtime);
    s.recipe = &recipe("pure-16bit");
    s.sequence = tokens_each;
    s.attention = kernel;
    return s;
  }
  Bytes attention(AttentionKernel kernel, std::string_view runtime = "trainer") const {
    return evaluate_training(with(kernel, runtime)).attention;
  }
  Reason refusal(AttentionKernel kernel) const {
    try {
      evaluate_training(with(kernel));
    } catch (const ImpossibleStep& e) {
      return e.reason;
    }
    return Reason::none;
  }
};

/// 8 layers of 16 heads, 4 of keys and values, of 64 elements, that see `window` tokens.
Model windowed(std::string_view window) {
  const std::string text = std::string(R"({"architectures": ["MistralForCausalLM"],
      "model_type": "mistral", "hidden_size": 1024, "intermediate_size": 2816,
      "num_hidden_layers": 8, "num_attention_heads": 16, "num_key_value_heads": 4,
      "vocab_size": 32000, "max_position_embeddings": 32768, "rms_norm_eps": 1e-5,
      "sliding_window": )") +
                           std::string(window) + "}";
  return make_model("windowed", parse_config(text, "windowed.json"), "");
}

/// A mask is added to the scores in 16 bit, and SDPA with a mask wants keys and values of every
/// head (transformers 5.24 use_gqa_in_sdpa).
TEST(AttentionKernel, SdpaKeepsAMaskForEachLayerOfAWindow) {
  const KernelStep step(windowed("4096"));
  const Size mask = 2 * tokens_each * tokens_each, spread = 2 * 2 * (16 - 4) * 64 * tokens_each;
  EXPECT_EQ(step.attention(sdpa) - step.attention(flash), Bytes(8 * (mask + spread)));
  const KernelStep whole(windowed("null"));
  EXPECT_EQ(whole.attention(sdpa), whole.attention(flash));
  EXPECT_EQ(whole.attention(flash), step.attention(flash));
  EXPECT_GT(whole.attention(eager), step.attention(sdpa));
}

/// transformers 5.24 _ignore_causal_mask_sdpa: kv_length >= local_attention_size has a mask.
TEST(AttentionKernel, AMaskExistsFromTheWindowsOwnLengthOn) {
  const KernelStep equal(windowed("8192")), wider(windowed("8193"));
  EXPECT_GT(equal.attention(sdpa), equal.attention(flash));
  EXPECT_EQ(wider.attention(sdpa), wider.attention(flash));
}

/// Transformer Engine and xformers take windows as an argument.
TEST(AttentionKernel, SomeRuntimesHaveNoMask) {
  const KernelStep step(windowed("4096"));
  for (const std::string_view runtime : {"megatron", "unsloth"})
    EXPECT_EQ(step.attention(sdpa, runtime), step.attention(flash, runtime)) << runtime;
}

/// transformers runs gpt-oss eager (_supports_sdpa is false); LLaMA-Factory with FlashAttention-3.
TEST(AttentionKernel, SdpaTakesNoSinks) {
  const KernelStep step(test::catalogue_model("openai/gpt-oss-20b"));
  EXPECT_FALSE(attention_support(step.model).sdpa);
  EXPECT_TRUE(attention_support(step.model).sinks);
  EXPECT_EQ(step.attention(sdpa), step.attention(eager));
  EXPECT_LT(step.attention(flash), step.attention(sdpa));
  EXPECT_EQ(step.attention(sdpa, "llama-factory"), step.attention(flash, "llama-factory"));
  EXPECT_EQ(step.attention(sdpa, "megatron"), step.attention(flash, "megatron"));
}

/// Time and memory are of the same kernel: scores that SDPA's substitute keeps are written too.
TEST(AttentionKernel, WithoutSdpaAStepIsAsSlowAsEager) {
  const auto takes = [](const KernelStep& step, AttentionKernel kernel) {
    TrainingPace pace = perfect();
    pace.traffic.value = 2;
    return seconds(step.with(kernel), test::machine(1, 80, 64), pace);
  };
  const KernelStep sinks(test::catalogue_model("openai/gpt-oss-20b")),
      caps(test::catalogue_model("google/gemma-2-9b")), plain(windowed("null"));
  EXPECT_EQ(takes(sinks, sdpa), takes(sinks, eager));
  EXPECT_EQ(takes(caps, sdpa), takes(caps, eager));
  EXPECT_LT(takes(sinks, flash), takes(sinks, eager));
  EXPECT_LT(takes(plain, sdpa), takes(plain, eager));
}

/// Gemma 2's soft cap is an argument of flash-attn alone.
TEST(AttentionKernel, FlashTakesSoftCaps) {
  const KernelStep step(test::catalogue_model("google/gemma-2-2b"));
  EXPECT_FALSE(attention_support(step.model).sdpa);
  EXPECT_FALSE(attention_support(step.model).sinks);
  EXPECT_EQ(step.attention(sdpa), step.attention(eager));
  EXPECT_LT(step.attention(flash), step.attention(sdpa));
}

/// Values of 128 elements are filled up to the keys' 192, and so is the result, of which the output
/// projection reads a copy. SDPA keeps values as a view of all that the latent's matrix makes.
TEST(AttentionKernel, FlashWidensValues) {
  const KernelStep step(test::catalogue_model("deepseek-ai/DeepSeek-V2-Lite"));
  const Size values = 192 - (128 + 128), result = 192;
  EXPECT_EQ(step.attention(flash) - step.attention(sdpa),
            Bytes(27 * 16 * tokens_each * 2 * (values + result)));
}

TEST(AttentionKernel, FlashRefusesWhatItHasNoKernelFor) {
  for (const auto* name : {"bigscience/bloom-560m", "deepseek-ai/DeepSeek-V3.2",
                           "google/flan-t5-small", "google/gemma-4-31B-it"}) {
    const KernelStep step(test::catalogue_model(name));
    EXPECT_EQ(step.refusal(flash), Reason::attention_unsupported) << name;
    EXPECT_EQ(step.refusal(sdpa), Reason::none) << name;
  }
  const KernelStep step(windowed("null"));
  EXPECT_EQ(step.refusal(flash), Reason::none);
  TrainingScenario wide = step.with(flash);
  wide.recipe = &recipe("fp32");
  EXPECT_THROW(evaluate_training(wide), ImpossibleStep);
  wide.attention = sdpa;
  EXPECT_NO_THROW(evaluate_training(wide));
}

}  // namespace
}  // namespace headroom::model
