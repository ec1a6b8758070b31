// The pooled search for training constants. Measured constants are recovered, unmeasured ones stay
// near similar runtimes and cards, and held-out rows have no influence.
#include "bench/fit/pace_search.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "sweep/accuracy/measured_file.hpp"
#include "sweep/accuracy/model_names.hpp"
#include "sweep/accuracy/quantile.hpp"

namespace headroom::sweep {
namespace {

/// Steps of one model with times under `pace`.
class Steps {
 public:
  Steps() : measurements_("") {}
  void add(const std::string& runtime, const std::string& card, double compute,
           const std::string& source) {
    for (const std::string model : {"Llama-2-7b", "Llama-2-13b"})
      for (const int batch : {1, 4}) {
        rows_.push_back(
            std::make_unique<Measurement>(measurement_of({{"id", std::to_string(rows_.size())},
                                                          {"kind", "training"},
                                                          {"model", model_reference(model)},
                                                          {"runtime", runtime},
                                                          {"machine", "8x " + card},
                                                          {"batch", std::to_string(batch)},
                                                          {"seq", "4096"},
                                                          {"tp", "2"},
                                                          {"dp", "4"},
                                                          {"figure", "step"},
                                                          {"form", "amount"},
                                                          {"unit", "s"},
                                                          {"value", "1.5"},
                                                          {"source", source}})));
        TimedStep step = measurements_.timed(*rows_.back());
        model::TrainingPace pace;
        const double values[] = {compute, 0.4, 2, 1e-3, 0.7, 0.7, 1, 0.7};
        for (std::size_t i = 0; i < std::size(values); ++i)
          (pace.*model::pace_constants[i]).value = values[i];
        step.measured = step.time(pace).total().value();
        all_.push_back(std::move(step));
      }
  }
  const std::vector<TimedStep>& all() const { return all_; }

 private:
  TrainingMeasurements measurements_;
  std::vector<std::unique_ptr<Measurement>> rows_;
  std::vector<TimedStep> all_;
};

double largest_error(const PaceSearch& search, const std::vector<TimedStep>& steps) {
  double largest = 0;
  for (std::size_t i = 0; i < steps.size(); ++i)
    largest = std::max(largest, std::abs(std::log(search.expected(i) / steps[i].measured)));
  return largest;
}

TEST(PaceSearch, RecoversConstantsAndPoolsRelatedOnes) {
  Steps steps;
  for (const std::string source : {"one", "two", "three", "four"})
    steps.add("megatron", "a100-sxm-80gb", 0.6, source);
  PaceSearch search(steps.all());
  const double prior = search.found(0, "megatron").constant.value;
  search.solve(std::vector<bool>(steps.all().size(), true));
  EXPECT_LT(largest_error(search, steps.all()), 0.05);
  const double megatron = search.found(0, "megatron").constant.value;
  const double any = search.found(0, "any").constant.value;
  EXPECT_LT(megatron, any);
  EXPECT_LT(any, prior);
  EXPECT_EQ(search.found_on(0, {"any", "a100-sxm-80gb"})->steps.size(), steps.all().size());
  // It has only published matrix products as data. It reaches a smaller share of its peak than
  // other cards.
  EXPECT_TRUE(search.found_on(0, {"any", "mi300x"})->steps.empty());
  EXPECT_LT(search.found_on(0, {"any", "mi300x"})->constant.value, 0.9);
  EXPECT_FALSE(search.found_on(0, {"any", "sm_6"}));
  EXPECT_FALSE(search.found_on(2, {"any", "sm_8"}));  // traffic is the same on every card
}

TEST(PaceSearch, ExcludedRowsHaveNoEffect) {
  Steps steps, slower;
  const std::vector<std::string> sources{"one", "two", "three", "four", "five", "six"};
  for (const std::string& source : sources) {
    steps.add("megatron", "a100-sxm-80gb", 0.7, source);
    slower.add("megatron", "a100-sxm-80gb", source == "one" ? 0.7 : 0.55, source);
  }
  std::vector<bool> used;
  for (const TimedStep& step : steps.all()) used.push_back((*step.row)["source"] == "one");
  PaceSearch one(steps.all()), other(slower.all());
  one.solve(used);
  other.solve(used);
  for (std::size_t i = 0; i < steps.all().size(); ++i)
    EXPECT_NEAR(one.expected(i) / other.expected(i), 1, 1e-9);
  other.solve(std::vector<bool>(used.size(), true));
  EXPECT_GT(other.expected(used.size() - 1) / one.expected(used.size() - 1), 1.1);
}

// A deviation of one source's machines must not change the estimates for other sources.
TEST(PaceSearch, ASourceThatDiffersIsItsOwn) {
  Steps steps;
  for (const std::string source : {"one", "two", "three", "four", "five"})
    steps.add("megatron", "a100-sxm-80gb", source == "one" ? 0.5 : 0.6, source);
  PaceSearch search(steps.all());
  search.solve(std::vector<bool>(steps.all().size(), true));
  double slow = 0, others = 0;
  for (std::size_t i = 0; i < steps.all().size(); ++i) {
    const double off = std::log(search.expected(i) / steps.all()[i].measured);
    ((*steps.all()[i].row)["source"] == "one" ? slow : others) += off / 4;
  }
  EXPECT_LT(slow, -0.08);
  EXPECT_NEAR(others / 4, 0, 0.05);
}

TEST(Quantile, ValuesCountByTheirWeights) {
  EXPECT_DOUBLE_EQ(quantile(std::vector<Weighed>{{3, 1}, {1, 1}}, 0.5), 2);
  EXPECT_DOUBLE_EQ(quantile(std::vector<Weighed>{{3, 1}, {1, 3}}, 0.375), 1);
  EXPECT_DOUBLE_EQ(quantile(std::vector<Weighed>{{3, 1}, {1, 3}}, 0.625), 2);
  EXPECT_DOUBLE_EQ(quantile(std::vector<Weighed>{{5, 2}}, 0.9), 5);
  EXPECT_DOUBLE_EQ(quantile(std::vector<Weighed>{}, 0.9), 0);
}

}  // namespace
}  // namespace headroom::sweep
