// Changes that are advised can be made, and then do what is said.
#include "model/answer/advice.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

std::optional<Advice> advised(const Scenario& s, Advice::Kind kind) {
  const auto all = advice(s, evaluate(s));
  const auto found = std::ranges::find(all, kind, &Advice::kind);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

TEST(Advice, AShorterContextHoldsPromptAndOutput) {
  test::OnCards run("meta-llama/Llama-3.1-8B-Instruct", "q8_0", "rtx-4070-ti-super", "lm-studio");
  run.s.context = 65536;
  run.s.prompt_tokens = 30'000;
  const auto shorter = advised(run.s, Advice::Kind::shorter_context);
  ASSERT_TRUE(shorter);
  run.s.context = shorter->amount;
  EXPECT_TRUE(is_on_gpus(evaluate(run.s)));
  ++run.s.context;
  EXPECT_FALSE(is_on_gpus(evaluate(run.s)));
  run.s.context = 65536;
  run.s.prompt_tokens = shorter->amount - run.s.output_tokens;  // just enough
  EXPECT_EQ(advised(run.s, Advice::Kind::shorter_context)->amount, shorter->amount);
  ++run.s.prompt_tokens;
  EXPECT_FALSE(advised(run.s, Advice::Kind::shorter_context));
}

}  // namespace
}  // namespace headroom::model
