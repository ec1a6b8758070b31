// The search for the number of layers that fit agrees with a walk layer by layer, for every model
// of the catalogue and many budgets.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "model/infer/placement/split.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

using test::machine;

/// Takes layers one after another while they fit.
Size walked(const Scenario& s, const CacheBytes& cache, Size first, Size end, Bytes left) {
  Size last = first;
  while (last < end && layer_bytes(*s.weights, {first, last + 1}) + cache(first, last + 1) <= left)
    ++last;
  return last;
}

TEST(LayersThatFit, EqualTheWalkForEveryModelOfTheCatalogue) {
  const Machine box = machine(1, 80, 500);
  int models = 0;
  Size compared = 0;
  for (const EmbeddedFile& file : embedded_models()) {
    if (!file.name.ends_with(".json")) continue;
    std::string name(file.name.substr(0, file.name.size() - 5));
    if (const auto at = name.find("__"); at != std::string::npos) name.replace(at, 2, "/");
    const Model& model = test::catalogue_model(name);
    ++models;
    for (const char* held : {"bf16", "q4_K_M"}) {
      const QuantisedModel w = quantise(model, scheme(held));
      if (!w.refusal.empty()) continue;
      for (const char* kv : {"fp16", "q8_0"}) {
        Scenario s = test::scenario(w, box, "transformers");
        s.kv_precision = &precision(kv);
        s.prompt_tokens = 777;
        const CacheBytes cache(s, reserved_tokens(s));
        const Size count = std::ssize(w.layer);
        const Size all = (layer_bytes(w, {0, count}) + cache(0, count)).count();
        for (Size step = -1; step <= 24; ++step)
          for (const Size off : {-1, 0, 1}) {
            // Budgets at even steps, and exactly at sums of layers from both sides.
            const Size to = std::clamp<Size>(count * step / 24, 0, count);
            const Size exact = (layer_bytes(w, {0, to}) + cache(0, to)).count();
            for (const Bytes left : {Bytes(all * step / 24 + off), Bytes(exact + off)})
              for (const Size from : {Size{0}, count / 3, count})
                for (const Size end : {count, count - count / 3}) {
                  ASSERT_EQ(layers_that_fit(s, cache, from, end, left),
                            walked(s, cache, from, end, left))
                      << name << ' ' << held << ' ' << left.count() << ' ' << end;
                  ++compared;
                }
          }
      }
    }
  }
  fmt::print("{} models, {} placements equal the walk\n", models, compared);
  EXPECT_GT(models, 150);
}

}  // namespace
}  // namespace headroom::model
