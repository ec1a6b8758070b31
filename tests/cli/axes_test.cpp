// No axis of a spec is inert: two values of it give two outcomes somewhere.
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "sweep/spec/spec.hpp"
#include "sweep_process.hpp"

namespace headroom::test {
namespace {

/// A grid in which the axis has an effect: its keys, the axis itself with two values.
const std::map<std::string, std::string> grids = {
    {"models", "models = ['gpt2', 'llama2-7b']\nmachines = 'rtx-4090'\nruntimes = 'transformers'"},
    {"precisions",
     "models = 'llama2-7b'\nmachines = 'rtx-4090'\nprecisions = ['bf16', 'int8']\n"
     "runtimes = 'transformers'"},
    {"kv_precisions",
     "models = 'llama2-7b'\nmachines = 'rtx-4090'\nruntimes = 'vllm'\nkv_precisions = ['fp16', "
     "'fp8']"},
    {"batches",
     "models = 'llama2-7b'\nmachines = 'rtx-4090'\nbatches = [1, 4]\nruntimes = 'transformers'"},
    {"concurrencies",
     "models = 'llama2-7b'\nmachines = 'a100-sxm-80gb'\nruntimes = 'vllm'\nconcurrencies = [1, 8]"},
    {"prompt_tokens_p95",
     "models = 'llama2-7b'\nmachines = 'a100-sxm-80gb'\nruntimes = 'vllm'\nconcurrencies = 8\n"
     "prompt_tokens_p95 = [600, 2000]"},
    {"output_tokens_p95",
     "models = 'llama2-7b'\nmachines = 'a100-sxm-80gb'\nruntimes = 'vllm'\nconcurrencies = 8\n"
     "output_tokens_p95 = [200, 900]"},
    {"max_ttft_p95",
     "models = 'llama2-7b'\nmachines = 'a100-sxm-80gb'\nruntimes = 'vllm'\nconcurrencies = 8\n"
     "max_ttft_p95 = ['150ms', '2s']"},
    {"max_tpot_p95",
     "models = 'llama2-7b'\nmachines = 'a100-sxm-80gb'\nruntimes = 'vllm'\nconcurrencies = 8\n"
     "max_tpot_p95 = ['12.5ms', '20ms']"},
    {"max_e2e_p99",
     "models = 'llama2-7b'\nmachines = 'a100-sxm-80gb'\nruntimes = 'vllm'\nconcurrencies = 8\n"
     "max_e2e_p99 = ['3s', '10s']"},
    {"burstiness",
     "models = 'llama2-7b'\nmachines = 'a100-sxm-80gb'\nruntimes = 'vllm'\nconcurrencies = 8\n"
     "max_e2e_p99 = '3s'\nburstiness = ['0.25', '1']"},
    {"load_factor",
     "models = 'llama2-7b'\nmachines = 'a100-sxm-80gb'\nruntimes = 'vllm'\nconcurrencies = 8\n"
     "load_factor = ['0.5', '80%']"},
    {"prompt_tokens",
     "models = 'llama2-7b'\nmachines = 'rtx-4090'\nprompt_tokens = [100, 900]\nruntimes = "
     "'transformers'"},
    {"output_tokens",
     "models = 'llama2-7b'\nmachines = 'rtx-4090'\noutput_tokens = [10, 900]\nruntimes = "
     "'transformers'"},
    {"contexts",
     "models = 'llama2-7b'\nmachines = 'rtx-4090'\ncontexts = [1024, 4096]\nruntimes = "
     "'transformers'"},
    {"runtimes",
     "models = 'llama2-7b'\nmachines = 'rtx-4090'\nruntimes = ['transformers', 'llama.cpp']"},
    {"adapters",
     "models = 'llama3-8b'\nmachines = 'rtx-4090'\nruntimes = 'vllm'\n"
     "adapters = ['none', '4x16']"},
    {"speculate",
     "models = 'Qwen3.5-27B'\nmachines = 'h100-sxm-80gb'\nruntimes = 'vllm'\n"
     "speculate = ['none', 'mtp:2']"},
    {"text_only",
     "models = 'gemma-3-27b-it'\nmachines = 'rtx-4090'\nruntimes = 'llama.cpp'\n"
     "precisions = 'q8_0'\ntext_only = ['none', 'yes']"},
    {"images",
     "models = 'Qwen2.5-VL-7B-Instruct'\nmachines = 'rtx-4090'\nimages = ['none', "
     "'2x1920x1080']\nruntimes = 'transformers'"},
    {"tp",
     "models = 'llama2-7b'\nmachines = '4x rtx-4090 @ epyc-rome-512gb'\nruntimes = 'vllm'\ntp = "
     "[1, 2]"},
    {"pp",
     "models = 'llama2-7b'\nmachines = '4x rtx-4090 @ epyc-rome-512gb'\nruntimes = 'vllm'\npp = "
     "[1, 2]"},
    {"ep",
     "models = 'Qwen3-30B-A3B'\nmachines = '4x a100-sxm-80gb'\nruntimes = 'vllm'\n"
     "ep = [1, 4]"},
    {"dp",
     "models = 'llama2-7b'\nmachines = '4x rtx-4090 @ epyc-rome-512gb'\nruntimes = 'vllm'\ndp = "
     "[1, 2]"},
    {"machines",
     "models = 'llama2-7b'\nmachines = ['rtx-4090', 'rtx-3090']\nruntimes = 'transformers'"},
    {"gpu_budgets",
     "models = 'llama2-7b'\nmachines = 'rtx-4090'\ngpu_budgets = ['8GiB', '20GiB']\nruntimes = "
     "'transformers'"},
};

const std::string step = "models = 'llama2-7b'\nmachines = '8x h100-sxm-80gb'\n";
const std::string sharded = step + "dp = 8\nzero = 2\n";
const std::string megatron = step + "runtimes = 'megatron'\n";
const std::map<std::string, std::string> training_grids = {
    {"models", "models = ['llama2-7b', 'llama3-8b']\nmachines = '8x h100-sxm-80gb'"},
    {"runtimes", step + "runtimes = ['trainer', 'fsdp2']"},
    {"recipes", step + "recipes = ['autocast', 'pure-16bit']"},
    {"matrices", megatron + "matrices = ['usual', 'fp8']"},
    {"optimizers", step + "optimizers = ['adamw', 'sgd']"},
    {"adapters", step + "adapters = ['full', 'lora:8']"},
    {"attention", step + "attention = ['eager', 'flash']"},
    {"kernels", step + "kernels = ['usual', 'liger']"},
    {"checkpointing", step + "checkpointing = ['none', 'full']"},
    {"tp", megatron + "tp = [1, 2]"},
    {"pp", megatron + "pp = [1, 2]\ngrad_accum = 8"},
    {"virtual_stages", megatron + "pp = 4\ngrad_accum = 8\nvirtual_stages = [1, 2]"},
    {"ep",
     "models = 'Qwen3-30B-A3B'\nmachines = '8x h100-sxm-80gb'\nruntimes = 'megatron'\n"
     "ep = [1, 8]"},
    {"cp", megatron + "cp = [1, 2]"},
    {"machines", "models = 'gpt2'\nmachines = ['8x h100-sxm-80gb', '8x a100-sxm-40gb']"},
    {"offload", sharded + "offload = ['none', 'optimizer']"},
    {"zero", step + "dp = 8\nzero = [0, 2]"},
    {"dp", step + "zero = 2\ndp = [4, 8]"},
    {"grad_accum", sharded + "grad_accum = [1, 4]"},
    {"batches", step + "batches = [1, 2]"},
    {"sequences", step + "sequences = [512, 1024]"},
};

using Task = model::Task;
using Axis = std::pair<Task, std::string>;

class Axes : public SweepProcess, public testing::WithParamInterface<Axis> {};

TEST_P(Axes, TwoValuesGiveTwoOutcomes) {
  const auto& [task, key] = GetParam();
  const bool training = task == Task::training;
  const auto& all = training ? training_grids : grids;
  const auto grid = all.find(key);
  ASSERT_NE(grid, all.end()) << "no grid shows the effect of " << key;
  std::ofstream(folder / "axis.toml")
      << "[[grid]]\n"
      << (training ? "task = 'training'\n" : "") << grid->second << '\n';
  const std::string out = (folder / "out").string();
  ASSERT_EQ(run({"sweep", (folder / "axis.toml").string(), "--no-plots", "--out", out}), 0);
  std::vector<std::string> question{"report",        out,           "--format",  "csv",
                                    "--where",       "model <> ''", "--columns", "verdict",
                                    "weights_bytes", "gpu_bytes",   "cpu_bytes", "tokens_s"};
  const std::vector<std::string> figures =
      training ? std::vector<std::string>{"optimizer_bytes", "gradients_bytes", "step_s"}
               : std::vector<std::string>{"kv_cache_bytes",
                                          "ttft_s",
                                          "tpot_s",
                                          "total_s",
                                          "serving_ttft_p95_s",
                                          "serving_total_p95_s",
                                          "serving_sustained_requests_s"};
  question.insert(question.end(), figures.begin(), figures.end());
  const auto [code, text] = ask(question);
  ASSERT_EQ(code, 0) << text;
  std::istringstream lines(text);
  std::set<std::string> outcomes;
  int rows = -1;
  for (std::string line; std::getline(lines, line); ++rows) outcomes.insert(line);
  EXPECT_EQ(rows, 2) << text;
  EXPECT_EQ(outcomes.size(), 3u) << "the heading and two outcomes\n" << text;
}

std::vector<Axis> axes() {
  std::vector<Axis> all;
  for (const Task task : {Task::inference, Task::training})
    for (const auto& key : sweep::axes_of(task)) all.emplace_back(task, key);
  return all;
}

INSTANTIATE_TEST_SUITE_P(, Axes, testing::ValuesIn(axes()), [](const auto& one) {
  return std::string(one.param.first == Task::training ? "training_" : "") + one.param.second;
});

}  // namespace
}  // namespace headroom::test
