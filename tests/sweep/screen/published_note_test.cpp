// Published checkpoints that hold a precision in another way.
#include "sweep/screen/published_note.hpp"

#include <gtest/gtest.h>

#include "hardware/catalogue.hpp"
#include "hardware/machine.hpp"
#include "hardware/quantity_text.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::sweep {
namespace {

std::string note(const char* name, const char* precision, const char* machine = "2x rtx-5090") {
  const auto weights = model::quantise(test::catalogue_model(name), model::scheme(precision));
  const Machine box = parse_machine(machine, shipped_catalogue());
  const model::Scenario s = test::scenario(weights, box, "vllm");
  return published_note(s, evaluate(s)).value_or("");
}

std::string size_of(const char* name) {
  const model::Model& m = test::catalogue_model(name);
  return to_text(model::quantise(m, model::scheme(m.checkpoint_scheme)).total);
}

TEST(PublishedNote, NamesTheCheckpointAndItsSize) {
  const std::string found = note("Qwen/Qwen3.6-27B", "nvfp4");
  EXPECT_TRUE(found.starts_with("nvidia/Qwen3.6-27B-NVFP4 has fewer matrices in nvfp4")) << found;
  EXPECT_NE(found.find(size_of("nvidia/Qwen3.6-27B-NVFP4")), std::string::npos) << found;
  EXPECT_TRUE(note("nvidia/Qwen3.6-27B-NVFP4", "nvfp4").starts_with("the checkpoint itself"));
}

TEST(PublishedNote, SaysIfTheVerdictIsAnother) {
  EXPECT_TRUE(note("google/gemma-4-31B-it", "nvfp4", "1x rtx-5090").ends_with("and do not fit"));
  EXPECT_TRUE(note("google/gemma-4-31B-it", "nvfp4", "1x h200-sxm-141gb").ends_with("GiB"));
}

TEST(PublishedNote, IsSilentWhereSizesAgreeOrNothingIsPublished) {
  EXPECT_EQ(note("Qwen/Qwen3-8B", "fp8"), "") << "Qwen3-8B-FP8 has the same matrices";
  EXPECT_EQ(note("Qwen/Qwen3.6-27B", "bf16"), "");
  EXPECT_EQ(note("nvidia/Qwen3.6-27B-NVFP4", "nvfp4-weights"), "") << "as it is";
  EXPECT_EQ(note("microsoft/phi-2", "nvfp4"), "");
}

}  // namespace
}  // namespace headroom::sweep
