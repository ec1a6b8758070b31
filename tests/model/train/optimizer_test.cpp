#include "model/train/optimizer.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "hardware/names.hpp"
#include "model/describe/blocks/blocks.hpp"

namespace headroom::model {
namespace {

TEST(Optimizer, NamesAreUniqueAndOthersExist) {
  std::set<std::string> seen;
  for (const Optimizer& row : optimizers()) {
    EXPECT_TRUE(row.names.empty() || seen.insert(std::string(row.name())).second) << row.names;
    EXPECT_TRUE(row.others.empty() || optimizer(row.others).others.empty()) << row.names;
  }
  // The command line has always accepted these optimizers, so all of them must stay.
  for (const auto* name : {"sgd", "sgd-momentum", "nesterov", "adagrad", "rmsprop", "lion", "adam",
                           "adamw", "lamb", "nadam", "amsgrad", "sparse-adam", "adabelief",
                           "adafactor", "shampoo", "muon", "galore", "schedule-free"})
    EXPECT_EQ(optimizer(name).name(), name);
}

TEST(Optimizer, NamesAreFoundInAnyCaseAndByClass) {
  EXPECT_EQ(&optimizer("AdamW_8bit"), &optimizer("adamw-8bit"));
  EXPECT_EQ(optimizer("pytorch-optimizer/lion").package, "pytorch-optimizer");
  EXPECT_EQ(optimizer("ADOPT").class_name, "ADOPT");
  try {
    optimizer("adamww");
    FAIL();
  } catch (const UnknownName& e) {
    EXPECT_NE(std::string(e.what()).find("adamw"), std::string::npos) << e.what();
  }
}

TEST(Optimizer, AdafactorKeepsRowsAndColumns) {
  // arXiv:1804.04235: one value per row and one per column, instead of one per element.
  EXPECT_EQ(state_bytes(optimizer("adafactor"), {"w", {1000, 30}, Role::matmul}, 2).count(),
            4 * (1000 + 30 + 1));
  EXPECT_EQ(state_bytes(optimizer("adafactor"), {"b", {1000}, Role::bias}, 2).count(),
            4 * (1000 + 1));
}

TEST(Optimizer, MuonLeavesOtherTensorsToAdam) {
  const Tensor matrix{"w", {64, 32}, Role::matmul}, table{"e", {64, 32}, Role::embedding};
  EXPECT_EQ(state_bytes(optimizer("muon"), matrix, 4).count(), 4 * 64 * 32);
  EXPECT_EQ(state_bytes(optimizer("muon"), table, 4).count(), 2 * 4 * 64 * 32 + 4);
}

TEST(Optimizer, SumsOverAPartCountTiedTensorsOnceAndBuffersNever) {
  const Part part = embedding("e", 10, 4) + linear("l", 4, 6) + buffer("b", {100}) +
                    lm_head("e.weight", 10, 4, true);
  EXPECT_EQ(optimizer_states(optimizer("sgd-momentum"), part, 4).count(), 4 * (10 * 4 + 4 * 6));
}

}  // namespace
}  // namespace headroom::model
