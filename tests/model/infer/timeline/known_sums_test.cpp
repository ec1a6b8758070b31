// Sums over layers that are remembered from one pass to the next.
#include "model/infer/timeline/known_sums.hpp"

#include "tests/model/infer/timeline/speed_fixture.hpp"

namespace headroom::model {
namespace {

/// A table with fewer places than ranges must not answer with another range's sums. Every second
/// layer has a window, so ranges of equal length differ.
TEST(KnownSums, AreThoseOfTheirLayersAlone) {
  const SpeedCase c("openai/gpt-oss-20b", "bf16", "1x h100-sxm-80gb", "llama.cpp");
  const AttentionRules rules(c.s);
  const CachedTokens tokens{.self = 5000};
  const Size layers = std::ssize(c.s.weights->layer);
  KnownSums known;
  for (const Content content : {Content::whole, Content::dense, Content::experts})
    for (Size first = 0; first < layers; ++first) {
      double bytes = 0, multiplied = 0, read = 0;
      for (Size last = first + 1; last <= layers; ++last) {
        const LayerSums one = sums_of(c.s, rules, {last - 1, last}, content);
        bytes += one.streamed_bytes().value();
        multiplied += one.multiplied;
        read += one.attention.read(3, tokens).value();
        const LayerSums& sums = known.of(c.s, rules, {first, last}, content);
        EXPECT_NEAR(sums.streamed_bytes().value(), bytes, 1e-9 * bytes);
        EXPECT_NEAR(sums.multiplied, multiplied, 1e-9 * multiplied);
        EXPECT_NEAR(sums.attention.read(3, tokens).value(), read, 1e-9 * read);
      }
    }
}

}  // namespace
}  // namespace headroom::model
