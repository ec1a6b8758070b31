// Loading: bytes that are read, mapped, copied and packed, cold and warm.
#include "model/infer/timeline/load.hpp"

#include <gtest/gtest.h>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

struct LoadCase : test::OnCards {
  using OnCards::OnCards;
  LoadTime load() const { return load_time(s, place(s, 1.0)); }
  /// Seconds for bytes from the disk. They pass two rates, one after the other.
  double seconds(double bytes) const {
    return bytes / box.host.disk_read.value() +
           bytes / s.runtime->weights.load_read_bandwidth.value;
  }
  double process() const { return s.runtime->weights.load_copy_bandwidth.value; }
};

double bytes(const QuantisedModel& w) { return w.total.real().value(); }

/// The file lies on the disk, whatever memory holds it later: llama-mmap.cpp maps the whole file.
TEST(Load, TheDiskHoldsTheWholeFile) {
  constexpr Bytes gib(Size{1} << 30);
  for (const char* engine : {"llama.cpp", "vllm", "transformers"}) {
    LoadCase c("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", engine);
    c.box.host.disk = c.weights.total;
    EXPECT_EQ(evaluate(c.s).verdict, Verdict::fits_one_gpu) << engine;
    c.box.host.disk = c.weights.total - gib;
    const Estimate e = evaluate(c.s);
    EXPECT_EQ(e.verdict, Verdict::does_not_fit) << engine;
    EXPECT_EQ(e.reason, Reason::disk) << engine;
    EXPECT_EQ(e.short_bytes, gib) << engine;
  }
  // Weights beyond RAM are read from the same file: the rest of it is no second copy.
  LoadCase beyond("meta-llama/Llama-2-70b-hf", "q8_0", "1x rtx-4090 @ desktop-ddr4-32gb",
                  "llama.cpp");
  beyond.box.host.disk = 40 * gib;
  EXPECT_EQ(evaluate(beyond.s).reason, Reason::disk);
  EXPECT_EQ(evaluate(beyond.s).short_bytes, beyond.weights.total - 40 * gib);
  EXPECT_EQ(file_bytes(beyond.s), beyond.weights.total);
}

TEST(Load, WarmFilesAreNotReadFromTheDisk) {
  const LoadCase c("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", "transformers");
  const LoadTime load = c.load();
  const double disk = c.seconds(bytes(c.weights));
  EXPECT_NEAR(load.read.value(), disk, 1e-3 * disk);
  EXPECT_NEAR(load.cold().value() - load.warm().value(), disk, 1e-3 * disk);
  EXPECT_EQ(load.mapped.value(), 0);
  // A process copies more slowly than PCIe 4.0 allows.
  EXPECT_LT(c.process(), c.box.host_bus(0).value());
  EXPECT_NEAR(load.bus.value(), bytes(c.weights) / c.process(), 1e-3 * load.bus.value());
  const Estimate e = evaluate(c.s);
  EXPECT_DOUBLE_EQ(e.load.value(), load.cold().value());
  EXPECT_DOUBLE_EQ(e.load_warm.value(), load.warm().value());
  EXPECT_EQ(e.warming.value(), 0);
}

/// Sequential requests cost little compared with a slow disk's time for the bytes.
TEST(Load, ASlowDiskIsReadNearlyAsFastAsItCan) {
  LoadCase c("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", "transformers");
  c.box.host.disk_read = BytesPerSecond(0.15e9);
  const double least = bytes(c.weights) / 0.15e9;
  EXPECT_GT(c.load().read.value(), least);
  EXPECT_LT(c.load().read.value(), 1.2 * least);
}

/// bitsandbytes reads 16 bit for any target format. The bus carries all these bytes to a card.
TEST(Load, QuantisingOnTheWayReadsAndMovesWhatTheFilesHave) {
  const LoadCase nf4("meta-llama/Llama-2-7b-hf", "nf4", "1x rtx-4090", "transformers");
  const LoadCase half("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", "transformers");
  EXPECT_NEAR(nf4.load().read.value(), half.load().read.value(), 0.01 * half.load().read.value());
  EXPECT_NEAR(nf4.load().bus.value(), half.load().bus.value(), 0.01 * half.load().bus.value());
  EXPECT_GT(nf4.load().pack.value(), 0);
  EXPECT_EQ(half.load().pack.value(), 0);
  // Files in a packed format are as small as the weights in memory.
  const LoadCase gptq("meta-llama/Llama-2-7b-hf", "gptq-int4", "1x rtx-4090", "transformers");
  EXPECT_LT(gptq.load().read.value(), 0.35 * half.load().read.value());
}

/// gpt2 is published in fp32, so its 16-bit weights are cast from twice as many bytes.
TEST(Load, CastWeightsAreReadAsPublished) {
  const LoadCase half("openai-community/gpt2", "fp16", "1x rtx-4090", "transformers");
  const LoadCase whole("openai-community/gpt2", "fp32", "1x rtx-4090", "transformers");
  EXPECT_NEAR(half.load().read.value(), whole.load().read.value(),
              0.01 * whole.load().read.value());
}

/// transformers maps files, and the first answer reads them. Source: huggingface/safetensors
/// docs/source/speed.mdx. It "loads" gpt2 to the CPU in 4 ms, but memory needs longer to copy its
/// 548 MB.
TEST(Load, TransformersMapsWhatStaysInHostMemoryAndTheFirstAnswerReadsIt) {
  const LoadCase c("facebook/opt-30b", "fp16", "1x rtx-4090 @ dual-epyc-120gb", "transformers");
  const LoadTime load = c.load();
  const Estimate e = evaluate(c.s);
  ASSERT_EQ(e.verdict, Verdict::fits_cpu_offload);
  EXPECT_GT(load.mapped.value(), 0);
  EXPECT_DOUBLE_EQ(e.warming.value(), load.mapped.value());
  const double all = c.seconds(bytes(c.weights));
  EXPECT_NEAR(load.read.value() + load.mapped.value(), all, 1e-3 * all);
  // llama.cpp reads the whole mapping at its start. FlexGen copies it.
  EXPECT_EQ(LoadCase("facebook/opt-30b", "fp16", "1x rtx-4090 @ dual-epyc-120gb", "flexgen")
                .load()
                .mapped.value(),
            0);
  EXPECT_GT(LoadCase("facebook/opt-30b", "fp16", "1x rtx-4090 @ dual-epyc-120gb", "flexgen")
                .load()
                .copy.value(),
            0);
}

/// Ranks copy their shards at the same time over separate buses. A single process copies card after
/// card.
TEST(Load, RanksCopyTheirShardsTogether) {
  LoadCase one("meta-llama/Meta-Llama-3-70B", "bf16", "4x a100-sxm-80gb", "vllm");
  LoadCase two("meta-llama/Meta-Llama-3-70B", "bf16", "8x a100-sxm-80gb", "vllm");
  one.s.tensor_parallel = 4;
  two.s.tensor_parallel = 8;
  EXPECT_NEAR(one.load().bus.value() / two.load().bus.value(), 2, 0.1);
  EXPECT_NEAR(one.load().read.value(), two.load().read.value(), 1e-9);
  const LoadCase layers("meta-llama/Meta-Llama-3-70B", "bf16", "4x a100-sxm-80gb", "transformers");
  EXPECT_GT(layers.load().bus.value(), 1.9 * one.load().bus.value());
}

}  // namespace
}  // namespace headroom::model
