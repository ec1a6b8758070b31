// Learned positions: how many tokens a table serves.
#include "model/checkpoint/position_table.hpp"

#include <gtest/gtest.h>

#include <string>

#include "model/describe/config.hpp"

namespace headroom::model {
namespace {

Size usable(const std::string& config, Size rows) {
  return usable_positions(parse_config(config, "tiny"), rows);
}

/// transformers 5.23 models/roberta: the first token has position padding_idx + 1. A table of
/// 514 rows has 512 left.
TEST(UsablePositions, RowsOfPaddingAreNoTokens) {
  EXPECT_EQ(usable(R"({"model_type": "roberta"})", 514), 512);
  EXPECT_EQ(usable(R"({"model_type": "xlm-roberta", "pad_token_id": 1})", 8194), 8192);
  EXPECT_EQ(usable(R"({"model_type": "mpnet", "pad_token_id": 0})", 514), 513);
  EXPECT_EQ(usable(R"({"model_type": "bert", "pad_token_id": 0})", 512), 512);
}

}  // namespace
}  // namespace headroom::model
