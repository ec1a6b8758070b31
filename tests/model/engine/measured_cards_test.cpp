// Measured times behind an engine on a card, from the table that the fit writes.
#include "model/engine/measured_cards.hpp"

#include <gtest/gtest.h>

#include "hardware/sorted_table.hpp"
#include "model/engine/constants_file.hpp"
#include "model/infer/intervals.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

MeasuredTimes times_of(const char* engine_name, const char* card, const char* scheme_name) {
  const QuantisedModel weights =
      quantise(test::catalogue_model("meta-llama/Meta-Llama-3-8B"), scheme(scheme_name));
  const Device& device = shipped_catalogue().device(card);
  return measured_times(engine(engine_name), device, weights);
}

TEST(MeasuredCards, CountRowsOfTheCardAndOfAll) {
  EXPECT_TRUE(SortedTable(constants_file("measured_cards.tsv")).first_unsorted().empty());
  const MeasuredTimes h100 = times_of("vllm", "h100-sxm-80gb", "bf16");
  EXPECT_GT(h100.here, 0);
  EXPECT_GT(h100.all, h100.here);
  EXPECT_GE(h100.all_sources, h100.here_sources);
  const MeasuredTimes old = times_of("vllm-0.7", "h100-sxm-80gb", "bf16");
  EXPECT_EQ(old.here, h100.here) << "versions of an engine are one family";
  EXPECT_NE(times_of("vllm", "h100-sxm-80gb", "fp8").here, h100.here) << "by width";
}

TEST(MeasuredCards, SaysWhereOnlyOtherCardsAreMeasured) {
  const MeasuredTimes times = times_of("vllm", "rtx-3060-12gb", "fp8");
  EXPECT_EQ(times.here, 0);
  EXPECT_GT(times.all, 0);
  const MeasuredTimes none = times_of("flexgen", "rtx-3060-12gb", "bf16");
  EXPECT_EQ(none.here + none.here_sources, 0);
}

TEST(MeasuredCards, OnesOfAnotherMakerDoNotStandForACard) {
  const auto step = [](const char* card) {
    test::OnCards run("meta-llama/Llama-3.1-8B-Instruct", "bf16", card, "vllm");
    return interval_factors(run.s).times(evaluate(run.s)).tpot;
  };
  EXPECT_EQ(step("trainium2").measurements, 0);
  EXPECT_GT(step("trainium2").high, 1.8);
  EXPECT_GT(step("h200-sxm-141gb").measurements, 0);
}

}  // namespace
}  // namespace headroom::model
