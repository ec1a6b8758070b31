// Resolved specs: digits, budgets, exclusions, contexts, and errors that come before the first
// point.
#include "sweep/spec/job.hpp"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "model/answer/allocation_curve.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/train/shape.hpp"
#include "report/columns.hpp"
#include "sweep/hub/hub.hpp"
#include "sweep/run/fingerprint.hpp"
#include "tests/sweep/spec/job_fixture.hpp"

namespace headroom::sweep {
namespace {

TEST(Job, EveryCombinationIsAScenario) {
  const Job job =
      job_of(std::string(small) + "batches = [1, 2, 3]\nprecisions = ['bf16', 'int8']\n" +
             "runtimes = 'transformers'");
  ASSERT_EQ(job.grids.size(), 1U);
  EXPECT_EQ(job.points(), 2 * 2 * 2 * 3);
  std::set<std::tuple<const void*, const void*, const void*, Size>> seen;
  for (const auto& s : scenarios(job.grids[0])) {
    EXPECT_EQ(s.gpu_budget, model::unlimited);
    seen.insert({s.weights->model, s.weights->scheme, s.machine, s.batch});
  }
  EXPECT_EQ(seen.size(), 24U);
}

/// gpt-oss-120b does not fit these cards. Its placement is the one of `curve`, with layers on the
/// cards and experts in host memory, not with the last layers alone on the cards.
TEST(Job, ExpertsAreInHostMemoryAsInACurve) {
  const Job job = job_of(
      "models = ['gpt-oss-120b']\nmachines = ['1x rtx-4090 @ epyc-rome-512gb']\n"
      "runtimes = ['llama.cpp', 'ktransformers']\nprecisions = ['mxfp4-moe']\n"
      "gpu_budgets = ['8GiB', '16GiB']");
  Evaluators evaluators;
  std::vector<Size> point(job.grids[0].digits.size());
  for (Size i = 0; i < job.points(); ++i) {
    job.grids[0].grid.decode(i, point);
    model::Scenario s = job.grids[0].scenario(point);
    const model::Estimate found = job.grids[0].evaluate(point, evaluators);
    const auto curve = allocation_curve(s, {s.gpu_budget});
    EXPECT_EQ(found.tokens_s, curve.front().estimate.tokens_s) << s.runtime->name;
    if (s.runtime->name == "llama.cpp") {
      EXPECT_GT(model::place(s, 1.0).host_experts.size(), 0);
      const model::LayerSplit whole_layers;
      s.layer_split = &whole_layers;
      EXPECT_NE(found.tokens_s, evaluate(s).tokens_s);
    }
    model::LayerSplit all;
    all.gpu_layers = std::ssize(s.weights->layer) + 1;
    all.on_host = model::experts_on_host(*s.weights, all.gpu_layers);
    s.layer_split = &all;
    if (s.runtime->name == "ktransformers") {
      EXPECT_EQ(found.tokens_s, evaluate(s).tokens_s);
    }
  }
}

TEST(Job, BudgetsEndAtEachMachinesOwnCard) {
  const Job job = job_of(
      "models = 'llama2-7b'\nmachines = ['rtx-4090', 'cpu', 'h100-sxm-80gb']\n"
      "runtimes = 'transformers'\ngpu_budgets = ['0-max+10GiB']");
  std::map<const Machine*, std::vector<Bytes>> budgets;
  for (const auto& s : scenarios(job.grids[0])) budgets[s.machine].push_back(s.gpu_budget);
  ASSERT_EQ(budgets.size(), 3U);
  for (const auto& [machine, values] : budgets) {
    EXPECT_TRUE(std::ranges::is_sorted(values));
    if (machine->devices.empty()) {
      EXPECT_EQ(values, std::vector<Bytes>{Bytes(0)});
    } else {
      EXPECT_EQ(values.front(), Bytes(0));
      EXPECT_EQ(values.back(), machine->devices[0].memory);
    }
  }
}

TEST(Job, LinkedAxesMoveTogether) {
  const Job job = job_of(std::string(small) +
                         "batches = [1, 8]\nprecisions = ['bf16', 'int8']\n"
                         "link = ['batches', 'precisions']");
  EXPECT_EQ(job.points(), 2 * 2 * 2);
  for (const auto& s : scenarios(job.grids[0]))
    EXPECT_EQ(s.batch, s.weights->scheme->name == "bf16" ? 1 : 8);
}

TEST(Job, LinkedBudgetsAreLimitedByTheCard) {
  const Job job = job_of(
      "models = 'llama2-7b'\nmachines = ['rtx-4090', 'h100-sxm-80gb']\n"
      "runtimes = 'transformers'\ngpu_budgets = ['8GiB', '999GiB']\nlink = ['machines', "
      "'gpu_budgets']");
  ASSERT_EQ(job.points(), 2);
  const auto all = scenarios(job.grids[0]);
  EXPECT_EQ(all[0].gpu_budget, Bytes(Size{8} << 30));
  EXPECT_EQ(all[1].gpu_budget, all[1].machine->devices[0].memory);
}

TEST(Job, LinkedBudgetsMayBePartsOfEachCard) {
  const Job job = job_of(
      "models = 'llama2-7b'\nmachines = ['rtx-4090', 'h100-sxm-80gb', 'rtx-4090']\n"
      "runtimes = 'transformers'\ngpu_budgets = ['50%', 'max-2GiB', 'max']\nlink = ['machines', "
      "'gpu_budgets']");
  ASSERT_EQ(job.points(), 3);
  const auto all = scenarios(job.grids[0]);
  const auto memory = [&](std::size_t i) { return all[i].machine->devices[0].memory; };
  EXPECT_EQ(all[0].gpu_budget.count(), memory(0).count() / 2);
  EXPECT_EQ(all[1].gpu_budget, memory(1) - Bytes(Size{2} << 30));
  EXPECT_EQ(all[2].gpu_budget, memory(2));
}

TEST(Job, TheDatabasesColumnsSayWhatTheScenariosAre) {
  const Job job = job_of(std::string(small) + "batches = [1, 2]\nruntimes = 'transformers'");
  const JobGrid& grid = job.grids[0];
  EXPECT_EQ(grid.shape.points(), grid.grid.size());
  std::vector<Size> point(grid.digits.size());
  for (Size i = 0; i < grid.grid.size(); ++i) {
    grid.grid.decode(i, point);
    const auto s = grid.scenario(point);
    std::map<std::string, report::AxisValue> row;
    for (std::size_t k = 0; k < point.size(); ++k)
      for (const auto& axis : grid.shape.digits[k]) {
        ASSERT_NE(report::find_column(axis.column), nullptr) << axis.column;
        EXPECT_TRUE(
            row.emplace(axis.column, axis.values[static_cast<std::size_t>(point[k])]).second);
      }
    EXPECT_EQ(std::get<std::string>(row.at("model")), s.weights->model->name);
    EXPECT_EQ(std::get<std::string>(row.at("precision")), s.weights->scheme->name);
    EXPECT_EQ(std::get<std::string>(row.at("machine")), s.machine->name);
    EXPECT_EQ(std::get<std::int64_t>(row.at("batch")), s.batch);
    EXPECT_EQ(std::get<std::int64_t>(row.at("parameters")), s.weights->model->profile.parameters);
  }
}

TEST(Exclude, LeavesOutExactlyWhatTheConditionSays) {
  const Job job = job_of(std::string(small) +
                         "runtimes = 'transformers'\nbatches = '1-64*2'\ncontexts = [1024, 4096]\n"
                         "exclude = ['batch >= 16 AND context > 2000', \"machine LIKE 'cpu%'\"]");
  const auto left = scenarios(job.grids[0]);
  for (const auto& s : left) {
    EXPECT_FALSE(s.batch >= 16 && s.context > 2000);
    EXPECT_FALSE(s.machine->devices.empty());
  }
  EXPECT_EQ(left.size(), 2U * (7 * 2 - 3));  // models × (batches × contexts − excluded)
}

TEST(Exclude, CountsPointsThatAreLeft) {
  const std::string axes = std::string(small) +
                           "runtimes = 'transformers'\nbatches = '1-64*2'\n"
                           "contexts = [1024, 4096]\nprompt_tokens = [64, 128]\n";
  // One condition; two of other axes; two that share one; three in a chain.
  for (const auto* conditions :
       {"'batch >= 16 AND context > 2000'", "'batch >= 16', 'context > 2000'",
        "'batch >= 16 AND context > 2000', 'batch < 4 AND prompt_tokens = 64'",
        "'batch >= 16 AND context > 2000', 'parameters > 2e9 AND prompt_tokens = 64', 'context < "
        "2000 AND prompt_tokens = 128'"}) {
    const Job job = job_of(axes + "exclude = [" + conditions + "]");
    const JobGrid& grid = job.grids[0];
    EXPECT_EQ(points_left(grid.grid, grid.exclusions), static_cast<Size>(scenarios(grid).size()))
        << conditions;
  }
}

TEST(Exclude, MayUseFactsOfTheAxes) {
  const Job job = job_of(std::string(small) + "exclude = 'parameters > 2e9'");
  for (const auto& s : scenarios(job.grids[0]))
    EXPECT_LT(s.weights->model->profile.parameters, 2'000'000'000);
}

TEST(Exclude, ComplainsUsefully) {
  const auto with = [&](std::string_view condition) {
    return job_complaint(std::string(small) + "exclude = \"" + std::string(condition) + '"');
  };
  EXPECT_NE(with("btch > 3").find("nearest: batch"), std::string::npos);
  EXPECT_NE(with("verdict = 'refused'").find("outcome"), std::string::npos);
  EXPECT_NE(with("batch >").find("s.toml:4: key 'exclude'"), std::string::npos);
  EXPECT_NE(with("batch > 0").find("leaves no point"), std::string::npos);
  EXPECT_NE(with("1").find("reads no column"), std::string::npos);
  for (const auto* evil :
       {"batch > (SELECT count(*) FROM sqlite_master)", "batch); DROP TABLE digit_0; --",
        "batch > (WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) "
        "SELECT max(i) FROM n)"})
    EXPECT_NE(with(evil).find("key 'exclude'"), std::string::npos) << evil;
}

TEST(Job, RefusesGridsWithoutEnd) {
  const auto complaint = job_complaint(std::string(small) +
                                       "batches = '1-100000'\nprompt_tokens = '1-100000'\n"
                                       "output_tokens = '1-1000'\ncontexts = '1-100000'");
  for (const auto* words : {" * 10^19 points", "10^12 are allowed", "batch 100,000 × ",
                            "output_tokens 1,000", "fewer values"})
    EXPECT_NE(complaint.find(words), std::string::npos) << complaint;
}

TEST(Job, HoldsWeightsOnceForBatchesThatReadTheSameAdapters) {
  const Job job = job_of(
      "models = 'gpt2'\nmachines = 'rtx-4090'\nruntimes = 'vllm'\nprecisions = 'fp16'\n"
      "adapters = '4x16'\nbatches = '1-64'");
  EXPECT_EQ(job.weights.size(), 1U + 4);  // without adapters, and with one to four of them read
}

TEST(Job, RefusesContextsTooShort) {
  EXPECT_NE(job_complaint(std::string(small) + "contexts = [512, 4096]").find("512 is less than"),
            std::string::npos);
  EXPECT_EQ(job_complaint(std::string(small) + "contexts = [512, 4096]\nexclude = 'context < "
                                               "prompt_tokens + output_tokens'"),
            "none");
  EXPECT_EQ(
      job_complaint(std::string(small) +
                    "contexts = [512, 4096]\nprompt_tokens = [100, 4000]\noutput_tokens = 96\n"
                    "link = ['contexts', 'prompt_tokens']"),
      "none");
}

TEST(Job, NamesTheLineOfAnUnknownName) {
  EXPECT_NE(job_complaint("models = 'gpt2'\nmachines = ['rtx-4090', 'rtx-4091']").find("rtx-4090"),
            std::string::npos);
  EXPECT_NE(job_complaint(std::string(small) + "precisions = 'bf17'").find("s.toml:4"),
            std::string::npos);
  EXPECT_NE(job_complaint(std::string(small) + "runtimes = 'transformer'").find("transformers"),
            std::string::npos);
  EXPECT_NE(job_complaint("models = ['llama2-7b', 'meta-llama/Llama-2-7b-hf']\nmachines = 'cpu'")
                .find("both called"),
            std::string::npos);
  EXPECT_NE(job_complaint("models = 'gpt2'\nmachines = ['rtx-4090', '1x rtx-4090']")
                .find("'rtx-4090' and '1x rtx-4090' are both '1x rtx-4090 @ "),
            std::string::npos);
}

TEST(Fingerprint, FollowsWhatResultsDependOn) {
  const auto of = [](std::string_view grid) {
    const Spec spec = spec_of(grid);
    return job_of(spec).info(spec).fingerprint;
  };
  const std::string text(small);
  EXPECT_EQ(of(text), of(text));
  EXPECT_NE(of(text), of(text + "batches = 2"));
  // An equal spec with another catalogue is another run.
  const Spec spec = spec_of(text);
  Catalogue changed = shipped_catalogue();
  for (Device& device : changed.devices) device.bandwidth = 2.0 * device.bandwidth;
  EXPECT_NE(of(text), job_of(spec, changed).info(spec).fingerprint);
}

}  // namespace
}  // namespace headroom::sweep
