// Memory that engines take at start: vLLM's profiling pass and AutoAWQ's fused matrices.
#include "model/infer/memory/start_pass.hpp"

#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
#include "hardware/units.hpp"
#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/towers.hpp"
#include "model/infer/placement/cache_room.hpp"
#include "model/infer/placement/placement.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::catalogue_model;
using test::scenario;

Machine card(std::string_view name) { return parse_machine(name, shipped_catalogue()); }

struct LoggedPass {
  const char* model;
  const char* precision;
  double gib;  ///< peak of activations in the pass at start
};
/// Source: vLLM 0.19.0 on one H100 with a context of 8192, llm-d-incubation/llm-d-planner@2d557dca
/// docs/accuracy/vllm-v0.19.0-accuracy-report.md. The rows are in order of vocabulary, from 32,016
/// to 201,088. Its Granite is 3.1 2B, with the shapes of 3.0.
constexpr LoggedPass logged_passes[] = {{"codellama/CodeLlama-7b-hf", "bf16", 0.77},
                                        {"ibm-granite/granite-3.0-2b-base", "bf16", 0.75},
                                        {"microsoft/phi-4", "bf16", 1.52},
                                        {"meta-llama/Llama-3.1-8B", "bf16", 1.89},
                                        {"Qwen/Qwen3-8B", "bf16", 2.21},
                                        {"Qwen/Qwen2.5-7B", "bf16", 2.21},
                                        {"openai/gpt-oss-20b", "mxfp4", 2.87}};

TEST(StartPass, KeepsFreeWhatVllmLogs) {
  for (const LoggedPass& row : logged_passes) {
    const Machine box = card("h100-sxm-80gb");
    const QuantisedModel weights = quantise(catalogue_model(row.model), scheme(row.precision));
    Scenario s = scenario(weights, box, "vllm-0.19");
    s.prompt_tokens = 8191;
    s.output_tokens = 1;
    const double found = static_cast<double>(card_use(s, place(s, 1.0), 0).activations.count());
    EXPECT_NEAR(found / GiB, row.gib, 0.06 * row.gib) << row.model;
  }
}

TEST(StartPass, IsSmallerOnSmallCards) {
  // vLLM pull requests 12369 and 16158: 256 sequences and 2048 tokens instead of 1024 and 8192.
  const QuantisedModel weights =
      quantise(catalogue_model("meta-llama/Llama-3.1-8B"), scheme("bf16"));
  const Machine small = card("rtx-4090"), large = card("h100-sxm-80gb");
  const Scenario on_small = scenario(weights, small, "vllm"),
                 on_large = scenario(weights, large, "vllm");
  EXPECT_EQ(usual_sequences(on_small), 256);
  EXPECT_EQ(usual_sequences(on_large), 1024);
  EXPECT_EQ(pass_tokens(on_small), 2048);
  EXPECT_EQ(pass_tokens(on_large), 8192);
}

/// Source: vLLM 0.24 engine/arg_utils.py get_batch_defaults: "a100" not in device_name.
TEST(StartPass, AnA800IsLargeAndAnA100IsNot) {
  const QuantisedModel weights =
      quantise(catalogue_model("meta-llama/Llama-3.1-8B"), scheme("bf16"));
  const Machine a100 = card("a100-sxm-80gb"), a800 = card("a800-sxm-80gb");
  EXPECT_EQ(usual_sequences(scenario(weights, a100, "vllm")), 256);
  EXPECT_EQ(usual_sequences(scenario(weights, a800, "vllm")), 1024);
}

/// Source: get_batch_defaults of vLLM 0.27.1, 0.30 and 0.33.
TEST(StartPass, SizesOfTheLargestAndOfUnifiedCardsCameLater) {
  const QuantisedModel weights =
      quantise(catalogue_model("meta-llama/Llama-3.1-8B"), scheme("bf16"));
  const Machine largest = card("b200-sxm-180gb"), unified = card("gb10");
  for (const auto& [engine, on_largest, on_unified] :
       {std::tuple{"vllm-0.27", 8192, 8192}, {"vllm-0.32", 16384, 8192}, {"vllm", 16384, 2048}}) {
    const Scenario a = scenario(weights, largest, engine), b = scenario(weights, unified, engine);
    EXPECT_EQ(pass_tokens(a), on_largest) << engine;
    EXPECT_EQ(pass_tokens(b), on_unified) << engine;
    EXPECT_EQ(prefill_chunk(a), on_largest) << engine << ": time and memory go by the same pass";
  }
}

/// vLLM 0.33 v1/worker/gpu_worker.py determine_available_memory: graphs come off the cache's room,
/// unless none are captured. Before 0.20 they are outside the engine's share.
TEST(StartPass, GraphsAreInTheShareUnlessNoneAreCaptured) {
  const QuantisedModel weights =
      quantise(catalogue_model("meta-llama/Llama-3.1-8B"), scheme("bf16"));
  const Machine box = card("h100-sxm-80gb");
  const auto graphs = [&](std::string_view engine) {
    Scenario s = scenario(weights, box, engine);
    const Bytes captured = workspace(s, 0);
    s.enforce_eager = true;
    return captured - workspace(s, 0);
  };
  EXPECT_GT(graphs("vllm"), 500 * mebibyte);
  EXPECT_EQ(graphs("vllm-0.19"), Bytes(0));
}

/// Qwen3.8-27B on a GB10 had 50.29 and 51.7 GiB left for its cache with 0.92 of the memory
/// (start-up logs of vLLM 0.27, inference_memory-9657 and -9690).
TEST(StartPass, ProcessesCountWhereCardAndHostHaveOneMemory) {
  const QuantisedModel weights = quantise(catalogue_model("Qwen/Qwen3.8-27B"), scheme("bf16"));
  const Machine box = card("gb10"), other = card("h100-sxm-80gb");
  Scenario s = scenario(weights, box, "vllm-0.27");
  s.context = 32768;
  s.gpu_share = 0.92;
  const auto room = cache_room(s, place(s, 1.0));
  ASSERT_TRUE(room);
  const double gib = real_count(room->available) / 1073741824.0;
  EXPECT_GT(gib, 49.0);
  EXPECT_LT(gib, 53.0);
  EXPECT_GT(process_on_card(s), Bytes(0));
  EXPECT_EQ(process_on_card(scenario(weights, box, "vllm-0.19")), Bytes(0));
  EXPECT_EQ(process_on_card(scenario(weights, other, "vllm-0.27")), Bytes(0));
}

/// Qwen3.5-122B-A10B in NVFP4 left 10 GiB less for its cache on a Jetson Thor than its sums say
/// (a start-up log of vLLM 0.19, inference_memory-9215), whose work is 4 GiB.
TEST(StartPass, TheHostsUseOfOneMemoryIsUncertain) {
  const QuantisedModel weights =
      quantise(catalogue_model("meta-llama/Llama-3.3-70B-Instruct"), scheme("nvfp4"));
  const Machine unified = card("jetson-agx-thor"), other = card("h100-sxm-80gb");
  const auto use = [&](const Machine& box, const char* engine) {
    const Scenario s = scenario(weights, box, engine);
    return card_use(s, place(s, 1.0), 0);
  };
  const CardUse thor = use(unified, "vllm-0.19");
  EXPECT_GE(thor.uncertain() - thor.work(), Bytes(Size{6} << 30));
  EXPECT_EQ(thor.total(), thor.weights + thor.kv_cache + thor.work());
  EXPECT_EQ(use(other, "vllm-0.19").host, Bytes(0));
  EXPECT_EQ(use(unified, "llama.cpp").host, Bytes(0));
  // Files in the page cache are most of it.
  const QuantisedModel small = quantise(catalogue_model("Qwen/Qwen3-0.6B"), scheme("bf16"));
  const Scenario s = scenario(small, unified, "vllm-0.19");
  const CardUse little = card_use(s, place(s, 1.0), 0);
  EXPECT_EQ(little.host, little.weights);
}

/// "Estimated CUDA graph memory" of start-up logs, GiB, within a factor of two
/// (hardware/catalogue/vllm_graphs.csv).
TEST(StartPass, GraphsTakeMemoryByLayersAndNumber) {
  struct Log {
    std::string model;
    Size sequences;
    double gib;
  };
  const Machine box = card("rtx-pro-6000");
  for (const auto& [model, sequences, gib] :
       {Log{"Qwen/Qwen2.5-72B-Instruct", 256, 2.73}, Log{"Qwen/Qwen3.5-9B", 256, 0.78},
        Log{"Qwen/Qwen3.6-27B", 8, 0.61}, Log{"google/gemma-4-26B-A4B", 2, 0.26}}) {
    const QuantisedModel weights = quantise(catalogue_model(model), scheme("bf16"));
    Scenario s = scenario(weights, box, "vllm");
    s.max_sequences = sequences;
    const Bytes captured = workspace(s, 0);
    s.enforce_eager = true;
    const double found = real_count(captured - workspace(s, 0)) / 1073741824.0;
    EXPECT_GT(found, gib / 2) << model;
    EXPECT_LT(found, gib * 2) << model;
  }
}

TEST(StartPass, RoomForCachesDoesNotDependOnTheBatch) {
  const QuantisedModel weights =
      quantise(catalogue_model("meta-llama/Llama-3.1-8B"), scheme("bf16"));
  const Machine box = card("l40s");
  Scenario s = scenario(weights, box, "vllm");
  s.context = 8192;
  const auto one = cache_room(s, place(s, 1.0));
  s.batch = 16;
  const auto many = cache_room(s, place(s, 1.0));
  ASSERT_TRUE(one && many);
  EXPECT_EQ(one->blocks, many->blocks);
  EXPECT_DOUBLE_EQ(one->sequences, many->sequences);
}

TEST(StartPass, FusedMatricesAreCopied) {
  // Llama 2 7B: q, k and v of 32 layers, 3 * 4096^2 each, in 4 bit. Every 128 elements have a
  // 16-bit scale and a 4-bit zero point. Pythia has one matrix for them in the checkpoint.
  const double copies = 32.0 * 3 * 4096 * 4096 * (0.5 + 2.5 / 128);
  const Machine box = card("rtx-4090");
  const auto activations = [&](const char* name) {
    const QuantisedModel weights = quantise(catalogue_model(name), scheme("awq-int4"));
    Scenario s = scenario(weights, box, "autoawq");
    s.prompt_tokens = s.output_tokens = 8;
    const CardUse use = card_use(s, place(s, 1.0), 0);
    return static_cast<double>((use.activations - use.overhead_weights).count());
  };
  const double beside = activations("EleutherAI/pythia-1b");
  EXPECT_NEAR(activations("meta-llama/Llama-2-7b-hf") - beside, copies, 0.01 * copies);
}

TEST(StartPass, StoredHeadIsCopiedUntilTied) {
  // Falcon 7B: 65024 by 4544 in 16 bit, in addition to 4-bit weights and before any cache exists.
  // GPTQ checkpoints have no such peak.
  const Machine box = card("rtx-4090");
  const auto peak = [&](const char* precision) {
    const QuantisedModel weights = quantise(catalogue_model("tiiuae/falcon-7b"), scheme(precision));
    Scenario s = scenario(weights, box, "transformers-4.57");
    s.prompt_tokens = s.output_tokens = 8;
    const CardUse use = card_use(s, place(s, 1.0), 0);
    return static_cast<double>((use.kv_cache + use.activations - use.overhead_weights).count());
  };
  EXPECT_NEAR(peak("awq-int4"), 2.0 * 65024 * 4544, 1e5);
  EXPECT_LT(peak("gptq-int4"), 2e8);
}

TEST(StartPass, RunsTheLargestImageThroughTheTower) {
  // Qwen2.5-VL: 12,845,056 pixels are 65,536 patches of 14 by 14, and 16,384 tokens for the model.
  // The tower is 1280 wide. Its gate, up and product are 3420 wide each.
  const Machine box = card("rtx-4090");
  const QuantisedModel seeing =
      quantise(catalogue_model("Qwen/Qwen2.5-VL-7B-Instruct"), scheme("bf16"));
  const double tower = 65536.0 * 2 * (4 * 1280 + 3 * 3420);
  Scenario s = scenario(seeing, box, "vllm");
  s.context = 16384;
  EXPECT_NEAR(static_cast<double>(tower_activations(s, 1).count()), tower, 0.01 * tower);
  s.context = 4096;  // The processor makes images as large as before.
  EXPECT_NEAR(static_cast<double>(tower_activations(s, 1).count()), tower, 0.01 * tower);
  EXPECT_EQ(tower_activations(scenario(seeing, box, "transformers"), 1), Bytes(0));
}

TEST(StartPass, ImagesHaveVectorsForDeeperLayers) {
  // Images of 16,384 tokens. Qwen3-VL's tower makes vectors for three more layers, Qwen2.5-VL's
  // none.
  const Machine box = card("rtx-4090");
  const auto embeddings = [&](const char* name) {
    const QuantisedModel weights = quantise(catalogue_model(name), scheme("bf16"));
    return embeddings_of_images(scenario(weights, box, "vllm"));
  };
  EXPECT_EQ(embeddings("Qwen/Qwen3-VL-30B-A3B-Instruct"), 2.0 * 16384 * 2048 * 4);
  EXPECT_EQ(embeddings("Qwen/Qwen2.5-VL-7B-Instruct"), 2.0 * 16384 * 3584);
}

/// Source: logs of vLLM 0.11, "Encoder cache will be initialized with a budget of 153600 tokens,
/// and profiled with 1 video items" (issue 27992, with a context of 32768); pull request 30475, of
/// 0.13.
TEST(StartPass, VideosHadARowForEachTimeStamp) {
  const Machine box = card("a100-sxm-80gb");
  const QuantisedModel weights =
      quantise(catalogue_model("Qwen/Qwen3-VL-30B-A3B-Instruct"), scheme("bf16"));
  const auto rows = [&](const char* engine, Size context) {
    Scenario s = scenario(weights, box, engine);
    s.context = context;
    return embeddings_of_images(s) / (2.0 * 2048 * 4);
  };
  EXPECT_EQ(rows("vllm@0.11", 262144), 153600);
  EXPECT_EQ(rows("vllm@0.12", 32768), 153600);
  EXPECT_EQ(rows("vllm@0.13", 262144), 16384);
  EXPECT_EQ(rows("vllm@0.10", 262144), 16384);
}

/// Source: vLLM pull request 16158, of 0.8.4.
TEST(StartPass, EveryCardOnceStartedWith1024Sequences) {
  const Machine box = card("rtx-4090");
  const QuantisedModel weights =
      quantise(catalogue_model("meta-llama/Llama-3.1-8B"), scheme("bf16"));
  EXPECT_EQ(usual_sequences(scenario(weights, box, "vllm@0.8.0")), 1024);
  EXPECT_EQ(usual_sequences(scenario(weights, box, "vllm@0.8.3")), 1024);
  EXPECT_EQ(usual_sequences(scenario(weights, box, "vllm@0.8.4")), 256);
  EXPECT_EQ(usual_sequences(scenario(weights, box, "vllm@0.7.3")), 256);
}

}  // namespace
}  // namespace headroom::model
