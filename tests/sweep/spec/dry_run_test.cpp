// A dry run counts exactly, however many points there are, and its sample is as a sweep would store
// it.
#include "sweep/run/dry_run.hpp"

#include <gtest/gtest.h>

#include "report/store.hpp"
#include "sweep/run/runner.hpp"
#include "sweep/run/sample.hpp"
#include "tests/support/folder.hpp"
#include "tests/sweep/spec/job_fixture.hpp"

namespace headroom::sweep {
namespace {

constexpr std::string_view one_model =
    "models = 'gpt2'\nmachines = 'rtx-4090'\nruntimes = 'transformers'\nprecisions = 'fp16'\n";

std::string text_of(const std::string& grid) {
  const Spec spec = spec_of(grid);
  return dry_run_text(job_of(spec), spec);
}

TEST(DryRun, CountsTenThousandMillionPoints) {
  const auto text =
      text_of(std::string(one_model) + "batches = '1-100000'\nprompt_tokens = '1-100000'\n");
  for (const auto* words :
       {"points: 10,000,000,000\n", "batch             1, 2, 3, … 100000 (100,000 values)",
        "all with model openai-community/gpt2",
        "expected time: ", "expected size of results.sqlite: ", "a sample of "})
    EXPECT_NE(text.find(words), std::string::npos) << text;
}

TEST(DryRun, LeavesExcludedPointsOut) {
  const auto text = text_of(std::string(one_model) +
                            "batches = '1-1000'\nprompt_tokens = '1-1000'\n"
                            "exclude = ['batch > 900', 'prompt_tokens > 500']");
  EXPECT_NE(text.find("points: 450,000 (550,000 of 1,000,000 are excluded)\n"), std::string::npos)
      << text;
}

TEST(DryRun, SaysThatConditionsAreTooManyToCount) {
  const auto text = text_of(std::string(one_model) +
                            "batches = '1-1000'\nprompt_tokens = '1-1000'\noutput_tokens = "
                            "'1-1000'\n"
                            "exclude = ['batch * prompt_tokens > 900', 'prompt_tokens * "
                            "output_tokens > 500']");
  EXPECT_NE(text.find("points: at most 1,000,000,000"), std::string::npos) << text;
}

/// Spread places of a grid of little more than 32 blocks fall into the same ones.
TEST(Sample, TakesNoBlockTwice) {
  const Spec spec =
      spec_of(std::string(one_model) + "batches = '1-36'\nprompt_tokens = '1-1024'\n");
  const Job job = job_of(spec);
  EXPECT_EQ(job.points(), 36'864);
  PointCost cost;
  ASSERT_NO_THROW(cost = sampled_cost(job, spec));
  EXPECT_GT(cost.points, 0);
}

TEST(Sample, TakesTheBytesOfTheSweep) {
  const Spec spec = spec_of(std::string(one_model) +
                            "batches = '1-400'\nprompt_tokens = '1-100'\ngpu_budgets = ['50%', "
                            "'max']");
  const Job job = job_of(spec);
  const PointCost cost = sampled_cost(job, spec);
  EXPECT_GT(cost.points, 0);  // a slow machine ends its sample early
  EXPECT_LE(cost.points, 32'768);
  EXPECT_GT(cost.evaluate_s, 0);
  EXPECT_GT(cost.store_s, 0);
  const test::Folder folder;
  {
    report::Store store(folder / "whole.sqlite");
    store.begin_run(job.info(spec));
    run(job, store, {});
  }
  const auto bytes = static_cast<double>(std::filesystem::file_size(folder / "whole.sqlite"));
  EXPECT_NEAR(cost.bytes(job.points()) / bytes, 1, 0.1);
}

TEST(PointCost, IsLimitedByTheWriterOrByAllThreads) {
  const PointCost cost{.points = 1, .evaluate_s = 2e-6, .store_s = 1e-6};
  EXPECT_DOUBLE_EQ(cost.seconds(1'000'000, 1), 3);
  EXPECT_DOUBLE_EQ(cost.seconds(1'000'000, 2), 1.5);
  EXPECT_DOUBLE_EQ(cost.seconds(1'000'000, 16), 1);
}

}  // namespace
}  // namespace headroom::sweep
