// Layers on cards by llama.cpp's options: results by hand, measured memory, and invariants.
#include <algorithm>

#include "tests/model/answer/last_layers_fixture.hpp"

namespace headroom::model {
namespace {

TEST(LastLayers, GrowLayerByLayerAsMeasured) {
  const Model model = make_model("granite", parse_config(granite_config, "granite"), "test");
  const QuantisedModel w = quantise(model, scheme("iq3_m"));
  const Machine box = machine(1, 24, 64);
  Scenario s = scenario(w, box, "llama.cpp-b7829");  // as measured in 2025
  s.prompt_tokens = 400;
  s.output_tokens = 112;
  LayerSplit split;
  s.layer_split = &split;
  double least = 1e9, most = -1e9;  // memory that does not depend on the layers
  for (const MeasuredMemory& row : granite) {
    split.gpu_layers = row.ngl;
    const Plan plan = place(s, 1.0);
    ASSERT_TRUE(plan.feasible());
    const CardUse use = card_use(s, plan, 0);
    const double overhead = row.used - (use.weights + use.kv_cache).real().value() / MiB;
    least = std::min(least, overhead);
    most = std::max(most, overhead);
  }
  EXPECT_LT(most - least, 2.0);  // MiB, compared with 3056 MiB of layers
}

/// Pull request 18148 of December 2025: the output is the first on a card, not the last.
TEST(LastLayers, CountFromTheEndAndTheOutputIsOneMore) {
  SplitByHand c("meta-llama/Meta-Llama-3.1-8B", "q4_K_M", machine(1, 24, 64));
  auto& [w, box, split, s] = c;
  for (const bool output_first : {true, false}) {
    s.runtime = &engine(output_first ? "llama.cpp" : "llama.cpp-b7829");
    Bytes before(-1);
    for (Size n = 0; n <= 40; ++n) {
      split.gpu_layers = n;
      const Plan plan = place(s, 1.0);
      ASSERT_TRUE(plan.feasible());
      EXPECT_EQ(plan.on_cards.size(), std::clamp<Size>(output_first ? n - 1 : n, 0, 32)) << n;
      if (n > 0) {
        EXPECT_EQ(plan.on_cards.last, 32);
      }
      EXPECT_EQ(plan.head, n > (output_first ? 0 : 32) ? Where::card : Where::cpu) << n;
      EXPECT_EQ(plan.embedding, Where::cpu);
      const Bytes on_cards = weights_on_cards(s, plan);
      EXPECT_EQ((on_cards + host_use(s, plan).weights), w.total);
      if (n <= 33) {
        EXPECT_GT(on_cards, before);
      }
      before = on_cards;
    }
  }
}

TEST(LastLayers, SharesByHand) {
  // The output and 69 of 80 layers with shares 3 : 1 : 2, which end at 0.5, 0.6667 and 1 of the 70
  // items. The first card gets 35 layers. The second gets the 12 below 46.67, the third the
  // remaining 22 and the output.
  const QuantisedModel w =
      quantise(catalogue_model("meta-llama/Llama-3.3-70B-Instruct"), scheme("q4_K_M"));
  const Machine box = machine(3, 80, 128);
  Scenario s = scenario(w, box, "llama.cpp");
  LayerSplit split{.gpu_layers = 70, .shares = {3, 1, 2}, .on_host = {}};
  s.layer_split = &split;
  const Plan some = place(s, 1.0);
  EXPECT_EQ((std::vector<Size>{some.layer_boundaries[0], some.layer_boundaries[1],
                               some.layer_boundaries[2], some.layer_boundaries[3]}),
            (std::vector<Size>{11, 46, 58, 80}));
  EXPECT_TRUE(some.has_head(2));
  // All 81 items on equal cards are 27 each, so the last card has 26 layers and the output.
  split = {.gpu_layers = 99, .on_host = {}};
  const Plan all = place(s, 1.0);
  EXPECT_EQ((std::vector<Size>{all.layer_boundaries[0], all.layer_boundaries[1],
                               all.layer_boundaries[2], all.layer_boundaries[3]}),
            (std::vector<Size>{0, 27, 54, 80}));
  EXPECT_TRUE(all.has_head(2));
  EXPECT_FALSE(all.has_head(1));
  // If the last card gets no share, the output is on the card before it.
  split = {.gpu_layers = 81, .shares = {1, 1, 0}, .on_host = {}};
  EXPECT_TRUE(place(s, 1.0).has_head(1));
}

TEST(LastLayers, RefusesTooManyLayersAndFindsTheLargestFit) {
  const QuantisedModel w =
      quantise(catalogue_model("meta-llama/Llama-3.3-70B-Instruct"), scheme("q4_K_M"));
  for (const Size cards : {1, 2, 3}) {
    const Machine box = machine(cards, 12, 128);
    Scenario s = scenario(w, box, "llama.cpp");
    s.gpu_budget = Bytes(Size{12} << 30);  // no margin, as where layers are placed by hand
    const Plan most = place(s, 1.0);
    ASSERT_TRUE(most.feasible());
    LayerSplit split;
    s.layer_split = &split;
    split.gpu_layers = most.on_cards.size() + 1;  // the output is the first
    EXPECT_TRUE(place(s, 1.0).feasible()) << cards;
    for (split.gpu_layers += 1; split.gpu_layers <= 81; ++split.gpu_layers) {
      const Plan more = place(s, 1.0);
      EXPECT_EQ(more.reason, Reason::gpu_memory) << cards << ' ' << split.gpu_layers;
      EXPECT_GT(more.short_bytes, Bytes(0));
    }
  }
}

}  // namespace
}  // namespace headroom::model
