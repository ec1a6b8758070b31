// Start options of engines, and their effects on times.
#include <gtest/gtest.h>

#include <algorithm>

#include "model/infer/estimate.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/timeline/passes.hpp"
#include "model/infer/timeline/segments.hpp"
#include "model/infer/timeline/throughput.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

struct OptionCase : test::OnCards {
  using OnCards::OnCards;
  Timeline step(Size cached) const { return decode_step(s, place(s, 1.0), {.self = cached}); }
  Timeline first(Size prompt) const { return prefill(s, place(s, 1.0), prompt); }
  Work work(Size prompt) const {
    const Pass pass = prefill_pass(s, prompt);
    return work_of(s, pass, LayerSpan{pass.layers});
  }
};

constexpr const char* llama_8b = "meta-llama/Meta-Llama-3-8B";

/// 8192 tokens by 32 heads in 32 layers, in chunks of 512. The scores are all queries of a chunk by
/// the keys up to its end.
TEST(FlashAttention, StoresScoresWithoutIt) {
  OptionCase c(llama_8b, "q4_K_M", "1x rtx-4090", "llama.cpp");
  c.s.context = 16384;
  EXPECT_EQ(c.work(8192).scores, 0);
  const double with = c.first(8192).total.value();
  const Bytes held = evaluate(c.s).activations;
  c.s.flash_attention = Override::off;
  EXPECT_NEAR(c.work(8192).scores, 32.0 * 32 * 8192 * (8192 + 512) / 2, 1e6);
  EXPECT_GT(c.first(8192).total.value(), 1.2 * with);
  EXPECT_GT(evaluate(c.s).activations, held);
  c.s.runtime = &engine("llama.cpp-b6324");
  c.s.flash_attention = Override::engine_default;
  EXPECT_GT(c.work(8192).scores, 0);
  c.s.flash_attention = Override::on;
  EXPECT_EQ(c.work(8192).scores, 0);
  // An engine without this option ignores it.
  c.s.runtime = &engine("vllm");
  c.s.flash_attention = Override::off;
  EXPECT_EQ(score_bytes(c.s), 0);
}

TEST(CpuThreads, MultiplyTheirShareAndReadSoMuchEach) {
  OptionCase c(llama_8b, "q4_K_M", "cpu @ epyc-rome-512gb", "llama.cpp");
  c.box.host.cores = 32;
  const Throughput all = cpu_rate(c.s);
  c.s.threads = 8;
  EXPECT_NEAR(cpu_rate(c.s).flops_s.value(), 1.3 * all.flops_s.value() / 4, 1);
  c.s.threads = 1;
  EXPECT_EQ(cpu_rate(c.s).bytes_s.value(), c.s.runtime->offload.thread_bandwidth.value);
  const double alone = c.step(512).of(Resource::cpu).value();
  c.s.threads = 2;
  EXPECT_NEAR(alone / c.step(512).of(Resource::cpu).value(), 2, 0.1);
  // 31 threads saturate the memory. Threads beyond the cores do not count.
  for (const Size threads : {31, 32, 64}) {
    c.s.threads = threads;
    EXPECT_EQ(cpu_rate(c.s).bytes_s, all.bytes_s) << threads;
  }
  EXPECT_EQ(cpu_rate(c.s).flops_s, all.flops_s);
}

/// Source: ikawrakow/ik_llama.cpp discussion 164, Llama-3.1-8B, 512 tokens on a Ryzen 9 7950X.
/// llama.cpp reaches 153.5 tokens/s in Q4_0, 147.9 in Q8_0, 82.6 in Q6_K, 74.4 in IQ4_XS and 45.8
/// in IQ2_XXS. Its fork reaches 270 in each of the first four.
TEST(CpuProducts, OfFormatsWithoutTilesAreMadeRowByRow) {
  const auto flops = [](const char* format, const char* engine) {
    const OptionCase c(llama_8b, format, "cpu @ desktop-ddr5-64gb", engine);
    return cpu_rate(c.s).flops_s.value();
  };
  const double tiled = flops("q4_0", "llama.cpp");
  EXPECT_EQ(flops("q8_0", "llama.cpp"), tiled);
  EXPECT_NEAR(tiled / flops("q6_K", "llama.cpp"), 153.5 / 82.6, 0.3);
  EXPECT_NEAR(tiled / flops("iq4_xs", "llama.cpp"), 153.5 / 74.4, 0.3);
  EXPECT_NEAR(tiled / flops("iq2_xxs", "llama.cpp"), 153.5 / 45.8, 0.8);
  EXPECT_EQ(flops("iq4_xs", "ik_llama.cpp"), flops("q8_0", "ik_llama.cpp"));
}

/// Source: kvcache-ai/ktransformers kt-kernel. Experts process prompts of fewer than 4096 tokens on
/// the device that stores them.
TEST(KtKernel, ShortPromptsStayWithTheExperts) {
  const OptionCase c("Qwen/Qwen3-235B-A22B", "bf16", "1x rtx-4090 @ dual-xeon-spr-1024gb",
                     "kt-kernel");
  EXPECT_EQ(host_prompts(c.s, 4095), PrefillOffload::on_cpu);
  EXPECT_EQ(host_prompts(c.s, 4096), PrefillOffload::faster);
}

/// Source: FMInference/FlexGen compression.py. PyTorch moves 15 bytes for each element of weights
/// and caches that it unpacks. A step of 4 bits therefore takes longer than one of 16.
TEST(FlexGen, UnpacksWeightsAndCachesInEveryStep) {
  OptionCase packed("facebook/opt-6.7b", "int4-64g", "1x l4-24gb", "flexgen");
  const double rate =
      packed.box.devices[0].bandwidth.value() * efficiency_of(packed.s).unpack_bandwidth.value;
  const double elements = 32 * 12 * 4096.0 * 4096;
  packed.s.kv_precision = &precision("fp16");
  const double step = packed.step(512).of(Resource::cards).value();
  EXPECT_NEAR(step, elements * 15 / rate, 0.1 * step);
  const OptionCase plain("facebook/opt-6.7b", "fp16", "1x l4-24gb", "flexgen");
  EXPECT_GT(step, 2 * plain.step(512).of(Resource::cards).value());
  // Keys and values of 512 tokens in 16 sequences.
  packed.s.batch = 16;
  const double sixteen = packed.step(512).of(Resource::cards).value();
  packed.s.kv_precision = &precision("int4_g64");
  const double cached = 16 * 512 * 32 * 2 * 4096.0;
  EXPECT_GT(packed.step(512).of(Resource::cards).value(), sixteen);
  const double unpacked =
      packed.step(512).of(Resource::cards).value() - packed.step(0).of(Resource::cards).value();
  EXPECT_GT(unpacked, cached * 15 / rate);
  EXPECT_LT(unpacked, 1.25 * cached * 15 / rate);  // plus the time to read them
}

/// Source: FMInference/FlexGen flex_opt.py. It copies the next layer while it computes the current
/// one.
TEST(FlexGen, CopiesLayersBehindProducts) {
  OptionCase c("facebook/opt-30b", "fp16", "1x rtx-4090 @ epyc-rome-512gb", "flexgen");
  c.s.kv_precision = &precision("fp16");
  c.s.gpu_budget = Bytes(Size{8} << 30);
  const Timeline step = c.step(128);
  ASSERT_GT(step.of(Resource::bus).value(),
            step.of(Resource::cards).value() + step.of(Resource::launches).value());
  EXPECT_NEAR(step.total.value(), step.of(Resource::bus).value(), 1e-9);
  c.s.batch = 8;
  c.s.gpu_budget = unlimited;
  const Timeline prompts = c.first(2048);
  ASSERT_GT(prompts.of(Resource::cards).value(), prompts.of(Resource::bus).value());
  EXPECT_NEAR(prompts.total.value(),
              std::max(prompts.of(Resource::cards).value(), prompts.of(Resource::launches).value()),
              1e-9);
  c.s.runtime = &engine("transformers");  // waits for each copy
  const Timeline waits = c.step(128);
  EXPECT_GE(waits.total.value(),
            waits.of(Resource::bus).value() + waits.of(Resource::cards).value() - 1e-9);
}

/// Source: FMInference/FlexGen flex_opt.py, --num-gpu-batches. Weights are copied once for all
/// parts, but unpacked and read for each part.
TEST(FlexGen, TakesABatchInParts) {
  OptionCase c("facebook/opt-30b", "int4-64g", "1x rtx-4090 @ epyc-rome-512gb", "flexgen");
  c.s.kv_precision = &precision("fp16");
  c.s.batch = 16;
  c.s.gpu_budget = Bytes(Size{20} << 30);
  const Timeline whole = c.step(64);
  const Bytes held = evaluate(c.s).activations;
  const Seconds kernels = headroom::model::launches(c.s, decode_pass(c.s, {.self = 64}));
  c.s.batch_parts = 4;
  EXPECT_NEAR(evaluate(c.s).activations.real().value(), held.real().value() / 4,
              0.01 * held.real().value());
  const Plan plan = place(c.s, 1.0);
  const auto copies = [&] { return decode_step(c.s, plan, {.self = 64}).of(Resource::bus); };
  const Seconds in_parts = copies();
  c.s.batch_parts = 1;
  EXPECT_EQ(in_parts, copies());
  c.s.batch_parts = 4;
  EXPECT_GT(c.step(64).of(Resource::cards).value(), 2.5 * whole.of(Resource::cards).value());
  EXPECT_GT(headroom::model::launches(c.s, decode_pass(c.s, {.self = 64})), 2 * kernels);
}

/// Two cards divide the weights outside the CPU, and exchange results twice per layer.
TEST(KtKernel, CardsDivideEachLayer) {
  const OptionCase one("Qwen/Qwen3-235B-A22B", "bf16", "1x rtx-4090 @ dual-xeon-spr-1024gb",
                       "kt-kernel");
  const OptionCase two("Qwen/Qwen3-235B-A22B", "bf16", "2x rtx-4090 @ dual-xeon-spr-1024gb",
                       "kt-kernel");
  const auto step = [](const OptionCase& c, std::string_view name) {
    LayerSplit split;
    split.gpu_layers = std::ssize(c.weights.layer) + 1;
    split.on_host = experts_on_host(c.weights, split.gpu_layers);
    Scenario s = c.s;
    s.runtime = &engine(name);
    s.layer_split = &split;
    return decode_step(s, place(s, 1.0), {.self = 1024});
  };
  const Timeline alone = step(one, "kt-kernel"), divided = step(two, "kt-kernel"),
                 in_turn = step(two, "ktransformers");
  EXPECT_NEAR(divided.of(Resource::cards).value(), alone.of(Resource::cards).value() / 2,
              0.01 * alone.of(Resource::cards).value());
  EXPECT_NEAR(divided.of(Resource::cpu).value(), alone.of(Resource::cpu).value(), 1e-9);
  EXPECT_GE(
      divided.of(Resource::link).value(),
      2 * 94 *
          reduce_latency(*two.s.runtime, *two.s.machine, two.s.machine->card_link(2).path).value);
  EXPECT_EQ(in_turn.of(Resource::link).value(), 0);
  EXPECT_NEAR(in_turn.of(Resource::cards).value(),
              step(one, "ktransformers").of(Resource::cards).value(),
              0.01 * alone.of(Resource::cards).value());
  OptionCase slower("Qwen/Qwen3-235B-A22B", "bf16", "2x rtx-4090 @ dual-xeon-spr-1024gb",
                    "kt-kernel");
  Device& second = slower.box.devices.back();
  second.bandwidth = BytesPerSecond(second.bandwidth.value() / 2);
  EXPECT_NEAR(step(slower, "kt-kernel").of(Resource::cards).value(),
              alone.of(Resource::cards).value(), 0.01 * alone.of(Resource::cards).value())
      << "both have as much to do, and one takes twice as long";
}

/// A small model on a fast card waits for Python. A token takes more than twice as long.
TEST(EnforceEager, KernelsOfADecodeStepAreLaunchedOneByOne) {
  OptionCase c("Qwen/Qwen3-0.6B", "bf16", "1x h100-sxm-80gb", "vllm");
  const double graphs = c.step(512).total.value(), first = c.first(512).total.value();
  c.s.enforce_eager = true;
  EXPECT_GT(c.step(512).total.value(), 2 * graphs);
  EXPECT_EQ(c.first(512).total.value(), first);
  c.s.runtime = &engine("llama.cpp");  // has no such option
  const double without = c.step(512).total.value();
  c.s.enforce_eager = false;
  EXPECT_EQ(c.step(512).total.value(), without);
}

/// Llama-3-70B on two cards. Both read half of every matrix at the same time. They wait for each
/// other at 7 matrices in each of 80 layers, and at the output.
TEST(SplitByRows, CardsReadConcurrentlyAndSynchroniseAtEachMatrix) {
  OptionCase c("meta-llama/Meta-Llama-3-70B", "q4_K_M", "2x rtx-3090", "llama.cpp");
  LayerSplit split;
  split.gpu_layers = std::ssize(c.weights.layer) + 1;
  c.s.layer_split = &split;
  const Timeline layers = c.step(1);
  split.mode = SplitMode::row;
  const Timeline rows = c.step(1);
  EXPECT_NEAR(layers.of(Resource::cards) / rows.of(Resource::cards), 2, 0.05);
  const double latency =
      reduce_latency(*c.s.runtime, *c.s.machine, c.s.machine->card_link(2).path).value;
  EXPECT_GT(rows.of(Resource::link).value(), 561 * latency);
  EXPECT_LT(rows.of(Resource::link).value(), 1.2 * 561 * latency);
  // A card with three quarters of the rows takes one and a half times as long.
  split.shares = {3, 1};
  EXPECT_NEAR(c.step(1).of(Resource::cards).value() / rows.of(Resource::cards).value(), 1.5, 0.05);
}

}  // namespace
}  // namespace headroom::model
