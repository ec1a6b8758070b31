// Conditions on rows: their values, what they refuse, and their time limit.
#include "report/condition.hpp"

#include <gtest/gtest.h>

#include "fixture.hpp"

namespace headroom::report {
namespace {

bool holds(const std::string& text, Size batch, double speed) {
  const Condition condition(text, {"result"});
  std::vector<Cell> values;
  for (const auto& read : condition.columns_read())
    values.push_back(read.column->name == "batch" ? Cell(batch) : Cell(speed));
  return condition.holds(values);
}

TEST(Condition, IsTrueFalseOrNeither) {
  EXPECT_TRUE(holds("batch = 2 and tokens_s > 10", 2, 11));
  EXPECT_FALSE(holds("batch = 2 and tokens_s > 10", 2, 10));
  EXPECT_TRUE(holds("result.batch IN (1, 2)", 2, 0));
  const Condition null("tokens_s < 5", {"result"});
  EXPECT_FALSE(null.holds(std::vector<Cell>{Cell()})) << "no value is not less";
  const Condition both("new.tokens_s < 0.95 * old.tokens_s", {"old", "new"});
  ASSERT_EQ(both.columns_read().size(), 2u);
  std::vector<Cell> values;
  for (const auto& read : both.columns_read()) values.emplace_back(read.row == 0 ? 100.0 : 94.0);
  EXPECT_TRUE(both.holds(values));
}

TEST(Condition, AllowsNothingButExpressions) {
  for (const std::string text :
       {"", "batch", "1", "1) union select 1 from outcome where (1", "(select 1)",
        "batch; drop table run", "batch = 1 -- ", "load_extension('x') or batch",
        "randomblob(9999999999) or batch", "fts3_tokenizer(model) or batch", "batch > date('now')",
        "current_date > batch", "attach 'x' as y",
        "exists (with recursive c(x) as (select 1 union all select x from c) select 1)",
        "\"a text\" = batch"}) {
    if (text == "batch") {
      EXPECT_NO_THROW(Condition(text, {"result"}));
      continue;
    }
    EXPECT_THROW(Condition(text, {"result"}), ConditionError) << text;
  }
}

TEST(Condition, NamesAParameter) {
  for (const std::string parameter : {"?", "?2", ":limit", "$limit", "@limit"}) try {
      const Condition wrong("tokens_s > " + parameter, {"result"});
      FAIL() << parameter;
    } catch (const ConditionError& e) {
      EXPECT_NE(std::string(e.what()).find("'" + parameter + "' is a parameter"), std::string::npos)
          << e.what();
    }
}

TEST(Condition, AllowsPlainFunctions) {
  EXPECT_TRUE(holds("min(batch, 3) = 2 and round(tokens_s) = 11 and sqrt(batch) < 2", 2, 11));
  EXPECT_TRUE(holds("coalesce(nullif(batch, 2), iif(tokens_s > 1, 5, 6)) = 5", 2, 11));
  EXPECT_TRUE(holds("printf('%d', batch) like '2%' and batch || '' glob '2*'", 2, 11));
}

TEST(Condition, ManyRowsAreNotOneRowThatTakesLong) {
  const Condition condition("batch % 2 = 0", {"result"});
  Size even = 0;
  for (Size batch = 0; batch < 300'000; ++batch)
    even += condition.holds(std::vector<Cell>{Cell(batch)});
  EXPECT_EQ(even, 150'000);
}

TEST(Condition, RowsThatTakeLongTogetherEnd) {
  std::string slow = "batch";
  for (int i = 0; i < 60; ++i) slow += " + length(printf('%.9000d', batch))";
  const Condition condition(slow + " < 0", {"result"});
  const auto all = [&] {
    for (Size batch = 0; batch < 1'000'000; ++batch)
      condition.holds(std::vector<Cell>{Cell(batch)});
  };
  EXPECT_THROW(all(), ConditionError);
}

TEST(Condition, NamesTheNearestColumn) {
  try {
    const Condition wrong("token_s > 1", {"result"});
    FAIL();
  } catch (const ConditionError& e) {
    EXPECT_NE(std::string(e.what()).find("nearest: tokens_s"), std::string::npos) << e.what();
  }
}

}  // namespace
}  // namespace headroom::report
