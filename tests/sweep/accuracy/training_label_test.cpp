// Runs of training that fitted or did not, as canonical rows.
#include <gtest/gtest.h>

#include "sweep/accuracy/training_measurement.hpp"

namespace headroom::sweep {
namespace {

using Columns = std::map<std::string, std::string, std::less<>>;

/// Full fine-tuning of 8 B weights: 2 + 2 + 4 bytes a weight in pure 16 bit are 65 GB.
Label label(Columns columns, Measurement& row) {
  columns.merge(Columns{{"kind", "training"},
                        {"model", "Qwen/Qwen3-8B"},
                        {"runtime", "torch"},
                        {"recipe", "pure-16bit"},
                        {"optimizer", "adamw"},
                        {"recompute", "full"},
                        {"batch", "1"},
                        {"seq", "1024"},
                        {"outcome", "oom"},
                        {"machine", "1x rtx-4090"}});
  row.fields = std::move(columns);
  return TrainingMeasurements("").label(row);
}

TEST(TrainingLabel, FullestCardAgainstTheSmallest) {
  Measurement row;
  const Label small = label({}, row);
  EXPECT_EQ(small.group, "training_verdict");
  EXPECT_FALSE(small.fitted);
  EXPECT_FALSE(small.expected);
  EXPECT_TRUE(small.sure);
  EXPECT_GT(small.load, 65e9 / 25.8e9);
  const Label large = label({{"machine", "1x h200"}, {"outcome", "fits"}}, row);
  EXPECT_TRUE(large.fitted);
  EXPECT_TRUE(large.expected);
  EXPECT_LT(large.load, 0.8);
}

TEST(TrainingLabel, StatesInHostMemory) {
  const Columns two = {{"machine", "2x rtx-4090"}, {"runtime", "fsdp"}, {"zero", "3"}, {"dp", "2"}};
  Measurement row;
  EXPECT_FALSE(label(two, row).expected);
  Columns moved = two;
  moved.merge(Columns{{"offload_optimizer", "cpu"}, {"offload_params", "cpu"}});
  EXPECT_TRUE(label(moved, row).expected);
  moved["ram_gib"] = "16";
  EXPECT_FALSE(label(moved, row).expected) << "65 GB of states do not fit in 16 GiB";
  EXPECT_THROW(label({{"dp", "2"}}, row), Skipped) << "two replicas on one card";
}

/// Liger's kernels keep fewer intermediate results, so a step needs less.
TEST(TrainingLabel, Liger) {
  Measurement row;
  const Columns plain = {{"recompute", ""}, {"seq", "8192"}};
  Columns fused = plain;
  fused["liger"] = "yes";
  EXPECT_LT(label(fused, row).load, label(plain, row).load);
}

/// Its loss is in chunks, as with --liger. One copy of the logits of 15,360 further tokens, of
/// 151,936 words each, would have 4.7 GB in 16 bit.
TEST(TrainingLabel, LigerNeverHasAllLogits) {
  Measurement row;
  const Columns fused = {{"liger", "yes"}, {"machine", "1x h200"}};
  Columns longer = fused;
  longer["seq"] = "16384";
  const double more = label(longer, row).load - label(fused, row).load;
  EXPECT_LT(more * 151e9, 15360 * 151936.0 * 2);
}

}  // namespace
}  // namespace headroom::sweep
