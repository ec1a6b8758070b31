// Training as a grid: every axis changes an outcome.
#include <gtest/gtest.h>

#include <map>

#include "model/infer/estimate.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "model/train/shape.hpp"
#include "model/train/time.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/spec/job.hpp"
#include "sweep/training/axes.hpp"
#include "sweep/training/grid.hpp"

namespace headroom::sweep {
namespace {

Job training_job(const std::string& axes, const std::string& models = "'gpt2'") {
  const Spec spec = parse_spec(
      "[[grid]]\ntask = 'training'\nmodels = " + models + "\n" +
          (axes.find("machines") == std::string::npos ? "machines = '8x h100-sxm-80gb'\n" : "") +
          axes,
      "s.toml");
  return make_job(spec, shipped_catalogue(), Hub({.token = {}, .offline = true}));
}

std::vector<model::Estimate> outcomes(const Job& job) {
  std::vector<model::Estimate> all;
  Evaluators evaluators;
  const JobGrid& grid = job.grids.front();
  std::vector<Size> digits(grid.grid.radices().size());
  for (Size i = 0; i < grid.grid.size(); ++i, grid.grid.advance(digits))
    all.push_back(grid.evaluate(digits, evaluators));
  return all;
}

bool same(const model::Estimate& a, const model::Estimate& b) {
  return a.verdict == b.verdict && a.reason == b.reason && a.gpu_bytes == b.gpu_bytes &&
         a.weights == b.weights && a.step.gradients == b.step.gradients &&
         a.step.states == b.step.states && a.activations == b.activations &&
         a.step.loss == b.step.loss && a.cpu_bytes == b.cpu_bytes && a.disk_bytes == b.disk_bytes &&
         a.gpus_used == b.gpus_used && a.gpu_bytes_low == b.gpu_bytes_low;
}

TEST(TrainingGrid, EveryAxisChangesAnOutcome) {
  // Two values for the axis, and other keys that it needs.
  const std::map<std::string, std::string> values = {
      {"models", ""},
      {"runtimes", "runtimes = ['trainer', 'megatron']"},
      {"recipes", "recipes = ['usual', 'fp32']"},
      {"matrices", "matrices = ['usual', 'mxfp8']\nruntimes = 'megatron'"},
      {"optimizers", "optimizers = ['adamw', 'sgd']"},
      {"adapters", "adapters = ['full', 'qlora:4:all-linear']"},
      {"attention", "attention = ['flash', 'eager', 'sdpa', 'flash_attention_2']"},
      {"kernels", "kernels = ['usual', 'liger']"},
      {"checkpointing", "checkpointing = ['none', 'full']"},
      {"tp", "tp = [1, 2]\ndp = 1"},
      {"pp", "pp = [1, 2]\ndp = 1"},
      {"virtual_stages", "virtual_stages = [1, 2]\npp = 2\ngrad_accum = 8"},
      {"ep", "ep = [1, 2]"},
      {"cp", "cp = [1, 2]\ndp = 1"},
      {"machines", "machines = ['1x rtx-4090', '2x rtx-4090']\ndp = 2"},
      {"offload", "offload = ['none', 'optimizer']\nzero = 1\ndp = 2"},
      {"zero", "zero = [0, 2]\ndp = 2"},
      {"dp", "dp = [1, 2]\nzero = 1"},
      {"grad_accum", "grad_accum = [1, 4]\nruntimes = 'torch'\noptimizers = 'sgd'"},
      {"batches", "batches = [1, 2]"},
      {"sequences", "sequences = [512, 1024]"}};
  for (const auto& axis : training_axes()) {
    const std::string key(axis.form.key);
    ASSERT_TRUE(values.contains(key)) << key;
    const auto all = outcomes(key == "models" ? training_job("", "['gpt2', 'gpt2-medium']")
                                              : training_job(values.at(key)));
    ASSERT_GE(all.size(), 2U) << key;
    bool differs = false;
    for (const auto& each : all) differs = differs || !same(each, all.front());
    EXPECT_TRUE(differs) << key;
  }
}

TEST(TrainingGrid, SaysWhatAValueShouldBe) {
  const auto complaint = [](const std::string& axes) {
    try {
      training_job(axes);
    } catch (const SpecError& e) {
      return std::string(e.what());
    }
    return std::string("none");
  };
  for (const auto& [axes, words] : std::map<std::string, std::string>{
           {"adapters = 'lorra'", "one of full, lora"},
           {"adapters = 'lora:x'", "METHOD:RANK:TARGETS"},
           {"adapters = 'full:8'", "neither rank"},
           {"adapters = 'lora:8:nothing'", "nothing"},
           {"zero = 4", "stages 0 to 3"},
           {"optimizers = 'adamm'", "nearest"},
           {"runtimes = 'vllm'", "training runtime"},
           {"offload = 'gpu'", "one of none"},
           {"prompt_tokens = 5", "unknown key 'prompt_tokens' in [[grid]] of training"},
           {"batches = 0", "numbers from 1"},
           {"link = ['batches', 'sequences']\nbatches = [1, 2]\nsequences = 5", "values"}})
    EXPECT_NE(complaint(axes).find(words), std::string::npos) << axes << ": " << complaint(axes);
}

// As --dp of estimate: one replica unless more are asked for.
TEST(TrainingGrid, OneReplicaUnlessAskedAndRefusalsAreRows) {
  const auto all = outcomes(training_job("tp = [1, 2, 5]\nmachines = '4x h100-sxm-80gb'"));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].gpus_used, 1);
  EXPECT_EQ(all[1].gpus_used, 2);
  EXPECT_EQ(all[2].verdict, model::Verdict::refused);
  EXPECT_EQ(all[2].reason, model::Reason::heads_not_divisible);
}

/// The value of a column at each point.
std::vector<report::AxisValue> column_of(const Job& job, std::string_view column) {
  const JobGrid& grid = job.grids.front();
  std::vector<report::AxisValue> all;
  std::vector<Size> digits(grid.grid.radices().size());
  for (Size i = 0; i < grid.grid.size(); ++i, grid.grid.advance(digits))
    for (std::size_t d = 0; d < digits.size(); ++d)
      for (const report::Axis& axis : grid.shape.digits[d])
        if (axis.column == column) all.push_back(axis.values[static_cast<std::size_t>(digits[d])]);
  return all;
}

using Values = std::vector<report::AxisValue>;
constexpr auto number = [](std::int64_t n) { return report::AxisValue(n); };

// As --seq of estimate: the model's own length, and none beyond learned positions.
TEST(TrainingGrid, SequencesEndWithThePositionsOfTheModel) {
  const Job usual = training_job("", "['gpt2', 'llama2-7b']");
  EXPECT_EQ(column_of(usual, "sequence"), (Values{number(1024), number(2048)}));
  EXPECT_EQ(outcomes(usual)[0].gpu_bytes, outcomes(training_job("sequences = 1024"))[0].gpu_bytes);
  const Job beyond = training_job("sequences = 2048", "['gpt2', 'llama2-7b']");
  EXPECT_EQ(column_of(beyond, "sequence"), (Values{number(2048), number(2048)}));
  EXPECT_EQ(outcomes(beyond)[0].reason, model::Reason::context_too_long);
  EXPECT_NE(outcomes(beyond)[1].verdict, model::Verdict::refused);
}

// As --zero of estimate: fsdp2 shards as ZeRO 3 does, and no less.
TEST(TrainingGrid, RowsHaveTheStageThatIsComputed) {
  const Job asked = training_job("runtimes = 'fsdp2'\ndp = 8\nzero = [2, 3]");
  EXPECT_EQ(outcomes(asked)[0].reason, model::Reason::parallelism_unsupported);
  EXPECT_EQ(outcomes(asked)[1].verdict, model::Verdict::fits_gpus);
  const Job usual = training_job("runtimes = ['fsdp2', 'megatron', 'trainer']\ndp = 8");
  EXPECT_EQ(column_of(usual, "zero"), (Values{number(3), number(1), number(0)}));
}

// As estimate: under ZeRO the Trainer has DeepSpeed's memory, and times depend on the card.
TEST(TrainingGrid, IntervalsAreThoseOfTheEngineThatRunsAndOfTheCard) {
  const Job job = training_job(
      "runtimes = ['trainer', 'fsdp2']\nzero = [0, 2, 3]\ndp = 2\n"
      "machines = ['2x h100-sxm-80gb', '2x rtx-5090']");
  const auto zero = column_of(job, "zero"), runtime = column_of(job, "runtime"),
             machine = column_of(job, "machine"), memory = column_of(job, "memory_high"),
             time = column_of(job, "tpot_measurements");
  ASSERT_EQ(memory.size(), 12U);
  bool measured = false, unmeasured = false;
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const auto& asked = model::training_runtime(std::get<std::string>(runtime[i]));
    const int stage = static_cast<int>(std::get<std::int64_t>(zero[i]));
    const auto& row = model::under_zero(asked, stage);
    EXPECT_EQ(std::get<double>(memory[i]), row.spread.high);
    const bool older = std::get<std::string>(machine[i]).find("h100") != std::string::npos;
    const Device& card = shipped_catalogue().device(older ? "h100-sxm-80gb" : "rtx-5090");
    const int steps = model::training_pace(row.paced_as(), card).interval.measurements;
    EXPECT_EQ(std::get<std::int64_t>(time[i]), steps);
    (steps > 0 ? measured : unmeasured) = true;
  }
  EXPECT_TRUE(measured && unmeasured);
}

TEST(TrainingGrid, AModelThatIsNotDescribedIsARow) {
  const auto all = outcomes(training_job("", "['pfnet/plamo-2-1b', 'gpt2']"));
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].reason, model::Reason::layers_not_described);
  EXPECT_EQ(all[1].verdict, model::Verdict::fits_one_gpu);
}

TEST(TrainingGrid, LinkedAxesMoveTogether) {
  const Job job =
      training_job("batches = [1, 2]\nsequences = [512, 256]\nlink = ['batches', 'sequences']");
  EXPECT_EQ(job.grids.front().grid.size(), 2);
}

}  // namespace
}  // namespace headroom::sweep
