// Warnings about the size of a card's memory.
#include <gtest/gtest.h>

#include <string>

#include "model/answer/explain.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

std::string warnings_on(const char* machine) {
  const test::OnCards on("Qwen/Qwen3-0.6B", "q8_0", machine, "llama.cpp");
  std::string all;
  for (const std::string& each : explain(on.s, WithAdvice::no).warnings) all += each + '\n';
  return all;
}

TEST(MemoryWords, NameTheKernelParameterOfMemoryThatNeedsOne) {
  for (const char* machine :
       {"1x radeon-8060s-128gb", "1x radeon-8060s-96gb", "1x radeon-8060s-64gb"}) {
    const std::string said = warnings_on(machine);
    EXPECT_NE(said.find("of GPU memory need the kernel parameter ttm.pages_limit"),
              std::string::npos)
        << machine << said;
    EXPECT_EQ(said.find("nominal"), std::string::npos) << machine;
  }
}

TEST(MemoryWords, OnlyWhatADriverReducesIsNominal) {
  for (const char* machine : {"1x gb10", "1x m3-max-48gb", "1x m3-ultra-512gb", "1x rtx-4090"})
    EXPECT_EQ(warnings_on(machine).find("nominal"), std::string::npos) << machine;
  EXPECT_NE(warnings_on("1x mi100").find("nominal"), std::string::npos);
}

}  // namespace
}  // namespace headroom::model
