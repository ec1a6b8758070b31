// The pooled search for constants. Measured constants are recovered, unmeasured ones stay near
// similar engines and cards, and held-out rows have no influence.
#include "bench/fit/fit.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "bench/fit/constant_lines.hpp"
#include "model/engine/measured_constants.hpp"
#include "model/engine/policy_rows.hpp"
#include "tests/sweep/accuracy/synthetic.hpp"

namespace headroom::sweep {
namespace {

constexpr auto hbm = static_cast<std::size_t>(model::CardClass::hbm);
constexpr auto sixteen = static_cast<std::size_t>(model::Width::sixteen);

const model::Engine& fitted_row(const PooledSearch& search, std::string_view name) {
  return *std::ranges::find(search.rows(), name, &model::Engine::name);
}

TEST(PooledSearch, RecoversConstantsAndPoolsRelatedOnes) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-1.5B", "Qwen2.5-72B"}, slower);
  std::vector<ScoredRow> subjects = known.subjects();
  std::vector<Measurement> of_sources(subjects.size());  // each model has another source
  for (std::size_t i = 0; i < subjects.size(); ++i) {
    of_sources[i] = *subjects[i].row;
    of_sources[i].fields["source"] = of_sources[i]["model"];
    subjects[i].row = &of_sources[i];
  }
  PooledSearch search(model::policy_rows(), subjects);
  search.solve();
  for (std::size_t i = 0; i < search.subjects().size(); ++i)
    EXPECT_NEAR(*search.expected(i) / search.subjects()[i].measured, 1, 0.06) << i;
  const model::Engine& llama = fitted_row(search, "llama.cpp");
  const auto bandwidth = [](const model::Engine& r, std::size_t c, std::size_t w) {
    return r.kernels.efficiency[c][w].decode_bandwidth.value;
  };
  EXPECT_NEAR(bandwidth(llama, ada, four), 0.6, 0.06);
  // A constant is nearer to the measured one if both have more in common.
  const double start = 0.78;  // from model/engine/engines/00-base.toml
  EXPECT_LT(bandwidth(llama, ada, sixteen), start);
  EXPECT_GT(bandwidth(llama, ada, sixteen), bandwidth(llama, ada, four));
  EXPECT_GT(bandwidth(llama, hbm, sixteen), bandwidth(llama, ada, sixteen));
  EXPECT_GT(bandwidth(fitted_row(search, "exllama"), hbm, sixteen), bandwidth(llama, hbm, sixteen));
  EXPECT_LT(bandwidth(fitted_row(search, "exllama"), hbm, sixteen), start);
}

TEST(PooledSearch, EnginesOfTheSameKernelsLearnFromEachOtherButOfTheirFrontEnds) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-72B"}, slower);
  std::vector<ScoredRow> served = known.subjects();
  model::Engine changed = model::engine("vllm");
  changed.kernels.efficiency[ada][four].decode_bandwidth.value = 0.4;
  changed.serving.request_s.value = 0.05;
  std::vector<Measurement> named(served.size());
  const auto name_sources = [&](std::size_t sources) {
    for (std::size_t i = 0; i < served.size(); ++i) {
      named[i] = *served[i].row;
      named[i].fields["source"] = "source-" + std::to_string(i / 2 % sources);
      served[i].row = &named[i];
    }
  };
  name_sources(3);
  for (std::size_t i = 0; i < served.size(); ++i) {
    ScoredRow& each = served[i];
    each.group = i % 2 == 0 ? "serving_tpot" : "serving_ttft";
    each.statistic = i % 2 == 0 ? Statistic::serving_step : Statistic::serving_first;
    each.scenario.runtime = &changed;
    std::string why;
    each.measured = predict(each, why).value();
  }
  PooledSearch search(model::policy_rows(), served);
  search.solve();
  const model::Engine &vllm = fitted_row(search, "vllm"), &sglang = fitted_row(search, "sglang"),
                      &other = fitted_row(search, "exllama");
  const auto bandwidth = [](const model::Engine& r) {
    return r.kernels.efficiency[ada][four].decode_bandwidth.value;
  };
  EXPECT_LT(bandwidth(vllm), 0.5);
  EXPECT_LT(bandwidth(sglang), 0.95 * bandwidth(other));
  EXPECT_GT(vllm.serving.request_s.value, 1.3 * sglang.serving.request_s.value);
  EXPECT_DOUBLE_EQ(sglang.serving.request_s.value, other.serving.request_s.value);

  // Two sources are no evidence of the engine's own front end.
  name_sources(2);
  PooledSearch few(model::policy_rows(), served);
  few.solve();
  EXPECT_DOUBLE_EQ(fitted_row(few, "vllm").serving.request_s.value,
                   fitted_row(few, "exllama").serving.request_s.value);
}

TEST(PooledSearch, OutliersAndManyRowsOfOneSourceHaveLittleWeight) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-1.5B", "Qwen2.5-72B"}, slower);
  const std::vector<ScoredRow> truth = known.subjects();
  std::vector<ScoredRow> all = truth;
  // Twelve sources of two rows are right. One source of 48 rows is twice as slow. The result must
  // be nearer to the twelve.
  std::vector<Measurement> named(truth.size() + 1);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    named[i] = *truth[i].row;
    named[i].fields["source"] = "right-" + std::to_string(i / 2);
    all[i].row = &named[i];
  }
  named.back() = *truth[0].row;
  named.back().fields["source"] = "wrong";
  for (int copy = 0; copy < 2; ++copy)
    for (ScoredRow each : truth) {
      each.row = &named.back();
      each.measured *= 2;
      all.push_back(each);
    }
  PooledSearch search(model::policy_rows(), all);
  search.solve();
  EXPECT_GT(fitted_row(search, "llama.cpp").kernels.efficiency[ada][four].decode_bandwidth.value,
            std::sqrt(0.6 * 0.3));
}

TEST(Fit, ExcludedRowsHaveNoEffect) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-1.5B", "Qwen2.5-72B"}, slower);
  Fit fit(known.subjects());
  const Folds folds = folds_by_model(fit.subjects());
  ASSERT_EQ(count(folds), 3u);
  const auto before = fit.left_out(folds);
  std::vector<ScoredRow> other = known.subjects();
  for (std::size_t i = 0; i < other.size(); ++i)
    if (folds[i] == 0) other[i].measured *= 1.5;
  const auto after = Fit(other).left_out(folds);
  for (std::size_t i = 0; i < other.size(); ++i) {
    ASSERT_TRUE(before[i] && after[i]);
    if (folds[i] != 0) continue;
    EXPECT_NEAR(*after[i] / *before[i], 1, 0.01) << i;
  }
}

/// Rows of an older generation are 1.5 times as slow or as fast. Measurements of the younger one on
/// a single machine say too little about other machines. On 24 machines they are enough, and so are
/// 25 sources of the family. One source says too little about other sources.
TEST(Fit, IntervalsOfFewMachinesOrSourcesAreWider) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-1.5B", "Qwen2.5-72B"}, slower);
  const auto high = [&](std::size_t machines, std::size_t sources) {
    std::vector<ScoredRow> all = known.subjects();
    const std::size_t n = all.size();
    std::vector<Measurement> rows;
    for (const ScoredRow& each : all) rows.push_back(*each.row);
    for (std::size_t i = 0; i < n; ++i) {
      rows[i].fields["host"] = std::to_string(i % machines);
      if (sources > 1) rows[i].fields["source"] = "source-" + std::to_string(i % sources);
      all[i].row = &rows[i];
      ScoredRow& older = all.emplace_back(known.subjects()[i]);
      older.scenario.runtime = &model::engine("llama.cpp-b3120");
      older.measured *= i % 4 < 2 ? 1.5 : 1 / 1.5;
    }
    Fit fit(all);
    const std::string lines = fit.lines(), effects = fit.effects();
    std::vector<model::Engine> fitted = model::policy_rows();
    model::apply_measured(fitted, lines, effects);
    return std::ranges::find(fitted, "llama.cpp", &model::Engine::name)
        ->kernels.decode_interval.high;
  };
  EXPECT_GT(high(1, 24), 1.25);
  EXPECT_LT(high(24, 24), 1.2);
  EXPECT_GT(high(24, 1), 1.25);
}

TEST(Folds, AModelIsLeftOutWhole) {
  Synthetic known({"Llama-2-7b", "Llama-2-13b", "Qwen2.5-1.5B", "Qwen2.5-72B"}, slower);
  const auto& subjects = known.subjects();
  const Folds folds = folds_by_model(subjects);
  for (std::size_t i = 0; i < subjects.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) {
      if (subjects[i].scenario.weights->model != subjects[j].scenario.weights->model) continue;
      EXPECT_EQ(folds[i], folds[j]);
    }
  // The source of 24 rows is a separate fold, in addition to the three folds of smaller sources.
  EXPECT_EQ(folds_by_source(subjects).front(), 3u);
}

TEST(Folds, ASetUpIsAModelOnACardByOneSource) {
  const auto row = [](const char* source, const char* model, const char* gpu, const char* batch) {
    Measurement each;
    each.fields = {{"source", source}, {"model", model}, {"machine", gpu}, {"batch", batch}};
    return each;
  };
  const std::vector<Measurement> rows = {row("a", "m", "h100", "1"), row("a", "m", "h100", "8"),
                                         row("a", "m", "h200", "1"), row("a", "n", "h100", "1"),
                                         row("b", "m", "h100", "1")};
  std::vector<const Measurement*> all;
  for (const Measurement& each : rows) all.push_back(&each);
  const Folds folds = folds_by_set_up(all, std::vector<std::string_view>(all.size(), "vllm"));
  EXPECT_EQ(folds[0], folds[1]);
  EXPECT_EQ(std::set<std::size_t>(folds.begin(), folds.end()).size(), 4u);
  // If an engine has only one set-up, the folds divide its rows.
  const Folds of_two = folds_by_set_up(all, {"calm", "calm", "vllm", "vllm", "vllm"});
  EXPECT_NE(of_two[0], of_two[1]);
}

TEST(ConstantLines, EnginesWithOneValueShareALine) {
  EXPECT_EQ(joined("a\tqueue\t1\nb\tqueue\t2\nc\tqueue\t1\n"), "a, c\tqueue\t1\nb\tqueue\t2\n");
}

}  // namespace
}  // namespace headroom::sweep
