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
    return disk(bytes) + bytes / s.runtime->weights.load_read_bandwidth.value;
  }
  /// The disk alone.
  double disk(double bytes) const {
    return bytes / (s.runtime->weights.load_disk_share.value * box.host.disk_read.value());
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

/// One request after the other gets a share of the disk. A slow one hides the page faults.
TEST(Load, PageFaultsCostLittleWhereTheDiskIsSlow) {
  LoadCase c("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", "transformers");
  c.box.host.disk_read = BytesPerSecond(0.15e9);
  EXPECT_GT(c.load().read.value(), bytes(c.weights) / 0.15e9);
  EXPECT_GT(c.load().read.value(), c.disk(bytes(c.weights)));
  EXPECT_LT(c.load().read.value(), 1.1 * c.disk(bytes(c.weights)));
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

/// Ranks copy their shards at the same time over separate buses, and each waits for its own pages.
/// A single process copies card after card.
TEST(Load, RanksCopyTheirShardsTogether) {
  LoadCase one("meta-llama/Meta-Llama-3-70B", "bf16", "4x a100-sxm-80gb", "vllm");
  LoadCase two("meta-llama/Meta-Llama-3-70B", "bf16", "8x a100-sxm-80gb", "vllm");
  one.s.tensor_parallel = 4;
  two.s.tensor_parallel = 8;
  EXPECT_LT(two.load().bus, one.load().bus);
  EXPECT_LT(two.load().read, one.load().read);
  EXPECT_GT(two.load().read.value(), two.disk(bytes(two.weights)));
  const LoadCase layers("meta-llama/Meta-Llama-3-70B", "bf16", "4x a100-sxm-80gb", "transformers");
  EXPECT_NEAR(layers.load().bus.value(), bytes(layers.weights) / layers.process(),
              1e-3 * layers.load().bus.value());
  EXPECT_GT(layers.load().bus, one.load().bus);
}

/// Llama-2-7B divides 32 * 4096 * (4096 + 11008) elements along their inputs: o_proj, down_proj.
TEST(Load, PiecesOfRowsAreGatheredFromWholeTensors) {
  LoadCase c("meta-llama/Llama-2-7b-hf", "fp16", "2x rtx-4090", "vllm");
  c.s.tensor_parallel = 2;
  const double cut = 2.0 * 32 * 4096 * (4096 + 11008);
  const double own = bytes(c.weights) / 2;
  EXPECT_NEAR(c.load().bus.value(), (own + cut) / c.process(), 1e-2 * c.load().bus.value());
  const double waits = c.load().read.value() - c.disk(bytes(c.weights));
  EXPECT_NEAR(waits, (own + cut / 2) / c.s.runtime->weights.load_read_bandwidth.value,
              1e-2 * waits);
}

/// Files of GPTQ have the inputs one after the other. Pieces of rows are then of all other
/// matrices.
TEST(Load, GptqCutsTheOtherMatricesAcrossTheirRows) {
  const auto cut = [](const char* precision) {
    const LoadCase c("meta-llama/Llama-2-7b-hf", precision, "2x rtx-4090", "vllm");
    const Divided all = c.weights.shards.before.back();
    return all.strided.real() / (all.split + all.heads).real();
  };
  const double inputs = 4096.0 * (4096 + 11008), outputs = 4096.0 * (3 * 4096 + 2 * 11008);
  EXPECT_NEAR(cut("fp16"), inputs / (inputs + outputs), 1e-6);
  EXPECT_NEAR(cut("gptq-int4"), outputs / (inputs + outputs), 1e-2);
}

TEST(Load, WholeExpertsAreNotCut) {
  LoadCase divided("mistralai/Mixtral-8x7B-v0.1", "bf16", "8x a100-sxm-80gb", "vllm");
  divided.s.tensor_parallel = 8;
  LoadCase whole("mistralai/Mixtral-8x7B-v0.1", "bf16", "8x a100-sxm-80gb", "vllm");
  whole.s.tensor_parallel = whole.s.expert_parallel = 8;
  // w2 is a third of the experts' 90 GB. Each rank goes through it where it has an eighth.
  const double w2 = 2.0 * 32 * 8 * 4096 * 14336;
  EXPECT_NEAR(divided.load().bus.value() - whole.load().bus.value(), w2 / whole.process(),
              0.02 * divided.load().bus.value());
}

/// Counts of vllm-project/vllm/pull/52462 (2026-08-15). GGUF files stack the experts of a layer.
TEST(Load, EachTensorOfTheFilesTakesItsTime) {
  const auto tensors = [](const char* model, const char* precision) {
    return quantise(test::catalogue_model(model), scheme(precision)).file_tensors;
  };
  EXPECT_EQ(tensors("Qwen/Qwen2.5-0.5B", "bf16"), 290);
  EXPECT_EQ(tensors("Qwen/Qwen2.5-14B", "bf16"), 579);
  EXPECT_EQ(tensors("Qwen/Qwen2.5-32B", "bf16"), 771);
  EXPECT_EQ(tensors("Qwen/Qwen3-30B-A3B-Base", "bf16"), 18867);
  EXPECT_LT(tensors("Qwen/Qwen3-30B-A3B-Base", "q8_0"), 48 * 13);
  // FP8 has scales beside each matrix of a layer, but the router.
  EXPECT_EQ(tensors("Qwen/Qwen3-30B-A3B-Base", "fp8-block"), 18867 + 48 * (4 + 3 * 128));
  // bitsandbytes quantises what it reads in 16 bit.
  EXPECT_EQ(tensors("Qwen/Qwen2.5-14B", "nf4"), 579);
  const LoadCase c("Qwen/Qwen3-30B-A3B-Base", "bf16", "1x h100-sxm-80gb", "vllm");
  EXPECT_DOUBLE_EQ(c.load().tensors.value(), 18867 * c.s.runtime->weights.load_tensor_s.value);
}

TEST(Load, LayersAreCapturedUnlessItRunsEagerly) {
  LoadCase c("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", "vllm");
  const double each = c.s.runtime->weights.load_layer_s.value;
  EXPECT_DOUBLE_EQ(c.load().layers.value(), 32 * each);
  EXPECT_GE(c.load().start(), c.load().layers + c.load().fixed);
  c.s.enforce_eager = true;
  EXPECT_EQ(c.load().layers.value(), 0);
  LoadCase stages("meta-llama/Llama-2-7b-hf", "fp16", "2x rtx-4090", "vllm");
  stages.s.pipeline_parallel = 2;
  EXPECT_DOUBLE_EQ(stages.load().layers.value(), 16 * each);
  EXPECT_EQ(LoadCase("meta-llama/Llama-2-7b-hf", "fp16", "1x rtx-4090", "transformers")
                .load()
                .layers.value(),
            0);
}

/// TensorRT-LLM reads files side by side, also from the page cache: as long as one of 5 GB takes.
TEST(Load, FilesThatAreReadAheadAreReadAgainFromThePageCache) {
  const LoadCase c("meta-llama/Meta-Llama-3-70B", "bf16", "8x h100-sxm-80gb", "tensorrt-llm");
  const LoadTime load = c.load();
  EXPECT_DOUBLE_EQ(load.again.value(), 5e9 / c.s.runtime->weights.load_read_bandwidth.value);
  const double disk = bytes(c.weights) / c.box.host.disk_read.value();
  EXPECT_NEAR(load.read.value(), disk + load.again.value(), 1e-3 * disk);
  EXPECT_NEAR(load.cold().value() - load.warm().value(), disk, 1e-3 * disk);
  const LoadCase small("Qwen/Qwen2.5-0.5B", "bf16", "1x h100-sxm-80gb", "tensorrt-llm");
  EXPECT_DOUBLE_EQ(small.load().again.value(),
                   bytes(small.weights) / small.s.runtime->weights.load_read_bandwidth.value);
}

}  // namespace
}  // namespace headroom::model
