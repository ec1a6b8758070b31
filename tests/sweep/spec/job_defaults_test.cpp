// A grid takes the checkpoint's precision, the engine's KV format and the usual context where its
// spec says nothing.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "report/columns.hpp"
#include "tests/sweep/spec/job_fixture.hpp"

namespace headroom::sweep {
namespace {

TEST(Job, ContextWithoutTokensIsSharedByTheBatchAndEndsAtTheModels) {
  // Llama 2 has 4,096 positions, TinyLlama 2,048.
  const Job job = job_of(std::string(small) + "batches = [1, 2, 8]");
  std::map<std::pair<Size, Size>, Size> contexts;
  for (const auto& s : scenarios(job.grids[0]))
    contexts[{s.weights->model->shape.positions, s.batch}] = s.context;
  const std::map<std::pair<Size, Size>, Size> expected = {{{2048, 1}, 2048}, {{2048, 2}, 2048},
                                                          {{2048, 8}, 1024}, {{4096, 1}, 4096},
                                                          {{4096, 2}, 4096}, {{4096, 8}, 1024}};
  EXPECT_EQ(contexts, expected);
}

TEST(Job, EnginesAndPrecisionsAreTheUsualOnesWhereNoneIsNamed) {
  const Job job = job_of("models = 'Qwen/Qwen3-8B'\nmachines = ['rtx-4090', 'm4-pro-48gb']");
  std::set<std::pair<std::string, std::string>> found;
  for (const auto& s : scenarios(job.grids[0]))
    found.emplace(s.runtime->name, s.weights->scheme->name);
  for (const auto& way :
       {std::pair{"vllm", "awq-int4"}, {"llama.cpp", "q4_K_M"}, {"transformers", "bf16"}})
    EXPECT_TRUE(found.contains(way)) << way.first << ' ' << way.second;
  EXPECT_FALSE(found.contains({"vllm", "q4_K_M"}));
  // A named engine keeps the checkpoint's precision.
  const Job named =
      job_of("models = 'Qwen/Qwen3-8B'\nmachines = 'rtx-4090'\nruntimes = 'llama.cpp'");
  EXPECT_EQ(named.points(), 1);
}

/// One question has one answer: `estimate --precision fp8` compares these engines too.
TEST(Job, APrecisionWithoutAnEngineTakesTheEnginesThatAreCompared) {
  const auto engines_of = [](const char* precision) {
    std::set<std::string> found;
    const Job job = job_of(std::string("models = 'Qwen/Qwen3-8B'\nmachines = 'rtx-4090'\n") +
                           "precisions = '" + precision + "'");
    for (const auto& s : scenarios(job.grids[0])) found.emplace(s.runtime->name);
    return found;
  };
  EXPECT_EQ(engines_of("fp8"), (std::set<std::string>{"transformers", "vllm"}));
  EXPECT_EQ(engines_of("fp8'\nruntimes = 'auto"), engines_of("fp8"));
  EXPECT_EQ(engines_of("int8"), (std::set<std::string>{"transformers"})) << "vllm refuses it";
  EXPECT_EQ(engines_of("q4_K_M"), (std::set<std::string>{"llama.cpp"}));
  EXPECT_EQ(engines_of("exl2-4bpw"), (std::set<std::string>{"exllama"}));
}

/// Lengths that the spec names change the cache only where they need more than the usual context.
TEST(Job, LengthsOfTheSpecLeaveTheUsualContext) {
  const auto contexts = [](const std::string& axes) {
    std::map<std::tuple<Size, Size, Size>, Size> all;
    const Job job = job_of(std::string(small) + "batches = [1, 8]\n" + axes);
    for (const auto& s : scenarios(job.grids[0]))
      all[{s.weights->model->shape.positions, s.batch, s.prompt_tokens}] = s.cached_tokens();
    return all;
  };
  const auto usual = contexts("");
  EXPECT_EQ(contexts("prompt_tokens = [512]\noutput_tokens = [128]"), usual);
  const auto longer = contexts("prompt_tokens = [512, 1500]");
  for (const auto& [of, tokens] : usual) EXPECT_EQ(longer.at(of), tokens);
  EXPECT_EQ(longer.at({4096, 1, 1500}), 4096);
  EXPECT_EQ(longer.at({4096, 8, 1500}), 1500 + 128);
}

/// A digit has as many rows as its axes have combinations, so axes stay apart where they can.
TEST(Job, LengthsOfTheSpecLeaveBatchesADigitOfTheirOwn) {
  const Job job = job_of(std::string(small) + "batches = [1, 2, 4, 8]\nprompt_tokens = [512]");
  const auto& digits = job.grids[0].digits;
  const auto decides = [](const std::vector<Choice>& digit) {
    return digit.front().decides.batch > 0;
  };
  const auto batches = std::ranges::find_if(digits, decides);
  ASSERT_NE(batches, digits.end());
  EXPECT_EQ(batches->size(), 4u);
}

TEST(Job, AnEncoderHasNoContextOfItsOwn) {
  const Job job = job_of("models = ['gpt2', 'BAAI/bge-large-en-v1.5']\nmachines = ['rtx-4090']");
  std::set<Size> contexts;
  for (const auto& s : scenarios(job.grids[0])) contexts.insert(s.context);
  EXPECT_EQ(contexts, (std::set<Size>{0, 1024}));
}

TEST(Job, AutoIsTheCheckpointsOwnAndAppearsOnce) {
  // Both checkpoints are published in 16 bit. auto adds a point only if it is another format.
  const Job job = job_of(std::string(small) +
                         "runtimes = 'transformers'\nprecisions = ['auto', 'fp16', 'bf16']");
  EXPECT_EQ(job.points(), 2 * 2 * 2);
  for (const auto& s : scenarios(job.grids[0]))
    EXPECT_TRUE(s.weights->scheme->name == "bf16" || s.weights->scheme->name == "fp16");
}

/// Engine and machine together decide it: each point has the weights of its own two.
TEST(Job, WeightsAreInTheSchemeThatEachEngineLoadsOnEachMachine) {
  const Job job = job_of(
      "models = ['Qwen/Qwen3-8B-FP8', 'Qwen/Qwen3-8B']\nmachines = ['rtx-4090', 'rtx-3090']\n"
      "runtimes = ['vllm', 'transformers']\ngpu_budgets = ['8GiB', '24GiB']");
  EXPECT_EQ(job.points(), 2 * 2 * 2 * 2);
  for (const auto& s : scenarios(job.grids[0])) {
    const bool is_old = !s.machine->devices[0].fp8.has_value();
    const bool unpacked = is_old && s.runtime->name == "transformers";
    const bool is_fp8 = s.weights->model->checkpoint_scheme == "fp8-block";
    EXPECT_EQ(s.weights->scheme->name, is_fp8 && !unpacked ? "fp8-block" : "bf16")
        << s.weights->model->name << ' ' << s.machine->name << ' ' << s.runtime->name;
  }
}

/// The CPU alone has no kernels for fp8, and transformers unpacks it there.
TEST(Job, WeightsWithoutBudgetAreAsTheCpuLoadsThem) {
  const Job job = job_of(
      "models = ['Qwen/Qwen3-8B-FP8']\nmachines = ['rtx-4090', 'rtx-5090']\n"
      "runtimes = ['transformers']\ngpu_budgets = ['0-max+16GiB']");
  for (const auto& s : scenarios(job.grids[0]))
    EXPECT_EQ(s.weights->scheme->name, s.gpu_budget == Bytes(0) ? "bf16" : "fp8-block")
        << s.machine->name << ' ' << s.gpu_budget.count();
}

/// Only where weights may not fit on the cards: else no card waits for them.
TEST(Job, TheCpuAloneIsAUsualWayOfModelsThatCardsDoNotHold) {
  const auto on_cpu = [](const std::string& model) {
    const Job job = job_of("models = '" + model + "'\nmachines = ['rtx-4090', 'cpu']");
    std::set<std::string> ways;
    for (const auto& s : scenarios(job.grids[0]))
      if (s.gpu_budget == Bytes(0)) ways.emplace(s.runtime->name);
    return ways;
  };
  EXPECT_EQ(on_cpu("Qwen/Qwen3-4B"), std::set<std::string>{});
  EXPECT_EQ(on_cpu("Qwen/Qwen3-32B"), std::set<std::string>{"transformers"});
}

TEST(Job, AutoIsWhatEachEngineMakesOfTheCheckpoint) {
  // The GGUF files of gpt-oss keep its experts unchanged. The rest is in Q8_0
  // (convert_hf_to_gguf.py).
  const Job job = job_of(
      "models = ['gpt-oss-20b', 'llama2-7b']\nmachines = ['rtx-4090']\n"
      "runtimes = ['llama.cpp', 'vllm']\nprecisions = ['auto', 'q8_0']\n");
  std::set<std::string> seen;
  for (const auto& s : scenarios(job.grids[0])) {
    const model::QuantisedModel& held = *s.weights;
    seen.insert(held.model->architecture + " in " + std::string(s.runtime->name) + ": " +
                std::string(held.scheme->name));
  }
  EXPECT_EQ(seen,
            (std::set<std::string>{
                "GptOssForCausalLM in llama.cpp: mxfp4-moe", "GptOssForCausalLM in llama.cpp: q8_0",
                "GptOssForCausalLM in vllm: mxfp4", "GptOssForCausalLM in vllm: q8_0",
                "LlamaForCausalLM in llama.cpp: fp16", "LlamaForCausalLM in llama.cpp: q8_0",
                "LlamaForCausalLM in vllm: fp16", "LlamaForCausalLM in vllm: q8_0"}));
}

TEST(Job, AutoIsTheCacheThatEachEngineTakes) {
  const Job job = job_of(
      "models = ['nvidia/Qwen3-32B-NVFP4', 'Qwen/Qwen3-32B']\nmachines = ['1x b200-sxm-180gb']\n"
      "runtimes = ['vllm', 'transformers']\nkv_precisions = ['auto', 'fp16']");
  std::multiset<std::string> found;
  for (const auto& s : scenarios(job.grids[0]))
    found.insert(std::string(s.weights->model->name) + ' ' + std::string(s.runtime->name) + ' ' +
                 s.kv_precision.name());
  EXPECT_EQ(found, (std::multiset<std::string>{
                       "Qwen/Qwen3-32B transformers fp16", "Qwen/Qwen3-32B vllm fp16",
                       "nvidia/Qwen3-32B-NVFP4 transformers fp16",
                       "nvidia/Qwen3-32B-NVFP4 vllm fp16", "nvidia/Qwen3-32B-NVFP4 vllm fp8"}))
      << "once each, though auto and fp16 are often the same";
  const Job plain = job_of(std::string(small) +
                           "runtimes = 'transformers'\nkv_precisions = ['auto', 'fp16', 'bf16']");
  EXPECT_EQ(plain.points(), 2 * 2 * 2) << "auto and fp16 are one";
}

}  // namespace
}  // namespace headroom::sweep
