// Tokens of images against transformers' own functions (image_tokens.py) and fixed grids against
// what the papers say.
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "csv.hpp"
#include "model/describe/images.hpp"
#include "model/engine/runs_on.hpp"
#include "model/infer/estimate.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::oracle {
namespace {

using model::ImageInput;

TEST(ImageTokens, AreThoseOfTheReference) {
  const std::map<std::string, std::string> models = {{"qwen2_5_vl", "Qwen/Qwen2.5-VL-7B-Instruct"},
                                                     {"qwen3_vl", "Qwen/Qwen3-VL-2B-Instruct"},
                                                     {"mistral3", "mistralai/Ministral-3-3B-2512"},
                                                     {"internvl_chat", "OpenGVLab/InternVL3-8B"},
                                                     {"dots_ocr", "rednote-hilab/dots.ocr"}};
  int compared = 0;
  for (const Row& row : read_csv("image_tokens.csv")) {
    const model::Model& m = test::catalogue_model(models.at(row.at("rule")));
    const model::ImageSize size{std::stoll(row.at("width")), std::stoll(row.at("height"))};
    const ImageInput found = image_input(m.images, size);
    const std::string what = row.at("rule") + ' ' + row.at("height") + 'x' + row.at("width");
    EXPECT_EQ(found.tokens, std::stoll(row.at("tokens"))) << what;
    EXPECT_EQ(found.patches, std::stoll(row.at("patches"))) << what;
    ++compared;
  }
  EXPECT_GT(compared, 250);
}

// llama.cpp tools/mtmd/clip.cpp: set_limit_image_tokens(8, 4096) of Qwen-VL, (8, 1024) of Pixtral's
// tower, worked out by hand with its calc_size_preserved_ratio.
TEST(ImageTokens, WithinTheLimitsOfLlamaCpp) {
  using enum model::ImageLimits;
  const auto tokens_of = [](const char* name, model::ImageSize size, model::ImageLimits limits) {
    return image_input(test::catalogue_model(name).images, size, limits).tokens;
  };
  constexpr const char* qwen = "Qwen/Qwen3-VL-8B-Instruct";
  EXPECT_EQ(tokens_of(qwen, {4096, 4096}, processor), 16384);
  EXPECT_EQ(tokens_of(qwen, {4096, 4096}, tokens), 4096);
  EXPECT_EQ(tokens_of(qwen, {1024, 1024}, tokens), 1024);
  EXPECT_EQ(tokens_of(qwen, {100, 100}, processor), 64);
  EXPECT_EQ(tokens_of(qwen, {100, 100}, tokens), 9);
  EXPECT_EQ(tokens_of("mistralai/Ministral-3-3B-2512", {2000, 1000}, tokens), 22 * (45 + 1));
  EXPECT_EQ(tokens_of("rednote-hilab/dots.ocr", {3000, 3000}, tokens),
            tokens_of("rednote-hilab/dots.ocr", {3000, 3000}, processor));
  EXPECT_EQ(model::image_limits(model::engine("llama.cpp")), tokens);
  EXPECT_EQ(model::image_limits(model::engine("vllm")), processor);
}

// Gemma 3: arXiv:2503.19786, 896 x 896 condensed to 256; PaliGemma: arXiv:2407.07726, 224 x 224 in
// 256 tokens; LLaVA 1.5: arXiv:2310.03744, 336 x 336 in 576.
TEST(ImageTokens, OfOneSize) {
  const auto of = [](const std::string& name) {
    return image_input(test::catalogue_model(name).images, {});
  };
  EXPECT_EQ(of("google/gemma-3-27b-it").tokens, 256);
  EXPECT_EQ(of("google/gemma-3-27b-it").patches, 64 * 64);
  EXPECT_EQ(of("google/paligemma-3b-pt-224").tokens, 256);
  EXPECT_EQ(of("llava-hf/llava-1.5-7b-hf").tokens, 576);
  EXPECT_THROW(of("Qwen/Qwen2.5-VL-7B-Instruct"), std::invalid_argument);
  EXPECT_THROW(of("meta-llama/Meta-Llama-3-8B"), std::invalid_argument);
}

// The tower takes time and memory in prefill, and nothing in decode.
TEST(Images, TakeTimeAndMemory) {
  const model::Model& m = test::catalogue_model("Qwen/Qwen2.5-VL-7B-Instruct");
  const model::QuantisedModel weights = quantise(m, model::scheme("bf16"));
  const Machine machine = test::machine(1, 80, 256);
  for (const auto* engine : {"transformers", "vllm"}) {
    model::Scenario s = test::scenario(weights, machine, engine);
    const model::Estimate text = evaluate(s);
    // So many that their pass is the larger one: vLLM's own pass at start is over 2 GiB.
    s.images = {16, 10764, m.images.hidden};
    const model::Estimate seen = evaluate(s);
    EXPECT_GT(seen.ttft, text.ttft) << engine;
    EXPECT_EQ(seen.tpot, text.tpot) << engine;
    EXPECT_GT(seen.activations, text.activations) << engine;
    EXPECT_EQ(seen.kv_cache, text.kv_cache) << engine;
  }
}

}  // namespace
}  // namespace headroom::oracle
