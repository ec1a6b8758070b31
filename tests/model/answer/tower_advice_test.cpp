// Advice to leave towers of images out.
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "hardware/units.hpp"
#include "model/answer/advice.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

std::optional<Advice> text_only(const Scenario& s) {
  const auto all = advice(s, evaluate(s));
  const auto found = std::ranges::find(all, Advice::Kind::text_only, &Advice::kind);
  return found == all.end() ? std::nullopt : std::optional(*found);
}

TEST(TowerAdvice, TextAloneFitsWhereTheTowerDoesNot) {
  test::OnCards run("Qwen/Qwen3.6-27B", "q4_K_M", "rtx-3090", "llama.cpp");
  run.s.kv_precision = &precision("q8_0");
  run.s.context = 178'000;
  ASSERT_EQ(evaluate(run.s).verdict, Verdict::fits_cpu_offload);
  const auto found = text_only(run.s);
  ASSERT_TRUE(found);
  EXPECT_TRUE(found->then.on_gpus);
  // 27 layers of 1152 with 4304 between, and the projector, in 16 bit.
  EXPECT_NEAR(found->before.real().value() / GiB, 0.86, 0.02);
  run.s.context = 262'144;  // more than the tower is missing
  EXPECT_FALSE(text_only(run.s));
}

TEST(TowerAdvice, NoneWhereTheEngineAlwaysLoadsTowers) {
  test::OnCards run("Qwen/Qwen3.6-27B", "q4_K_M", "rtx-3090", "ollama");
  run.s.kv_precision = &precision("q8_0");
  run.s.context = 178'000;
  ASSERT_EQ(evaluate(run.s).verdict, Verdict::fits_cpu_offload);
  EXPECT_FALSE(text_only(run.s));
}

}  // namespace
}  // namespace headroom::model
