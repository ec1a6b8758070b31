// The smaller model that is named where a larger one does not fit.
#include "sweep/plan/smaller_model.hpp"

#include <gtest/gtest.h>

#include "tests/support/scenarios.hpp"

namespace headroom::sweep {
namespace {

std::string named(const char* engine, const char* precision, Size context) {
  test::OnCards run("meta-llama/Llama-3.3-70B-Instruct", precision,
                    "4x rtx-3090 @ threadripper-pro-256gb", engine);
  run.s.kv_precision = {};
  run.s.context = context;
  run.s.batch = 16;
  const auto found = smaller_model(run.s, evaluate(run.s), false);
  return found ? found->text : "";
}

TEST(SmallerModel, HasPositionsForTheContext) {
  constexpr const char* short_one = "meta-llama/Llama-2-13b-hf";  // 4096 positions
  EXPECT_EQ(named("llama.cpp", "q8_0", 4096), short_one);
  EXPECT_EQ(named("llama.cpp", "q8_0", 4097), "meta-llama/Llama-3.1-8B");
}

TEST(SmallerModel, HasPositionsForTheContextOfTheEngine) {
  constexpr Size engines_own = 0;  // 131,072 tokens on such cards
  EXPECT_EQ(named("ollama", "q8_0", engines_own), "meta-llama/Llama-3.2-1B");
}

}  // namespace
}  // namespace headroom::sweep
