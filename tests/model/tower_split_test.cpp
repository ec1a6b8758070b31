// A vision tower is no layer that llama.cpp's options count or split over cards.
#include "last_layers_fixture.hpp"

namespace headroom::model {
namespace {

/// gemma-3-27b: 27 layers of the tower, 62 of the text model.
constexpr Size tower = 27, layers = 89;

struct TowerSplit : ::testing::Test {
  const QuantisedModel w = quantise(catalogue_model("google/gemma-3-27b-it"), scheme("q8_0"));
  const Machine box = machine(2, 24, 64);
  Scenario s = scenario(w, box, "llama.cpp");
  LayerSplit split;
};

TEST_F(TowerSplit, CardsShareTheLayersOfTheText) {
  const Plan plan = place(s, 1.0);
  ASSERT_TRUE(plan.feasible());
  // Items 0 to 62 over equal shares: those below 31.5 are on the first card, with the tower.
  EXPECT_EQ(plan.on_cards, (Range{0, layers}));
  EXPECT_EQ(plan.layer_boundaries[1], tower + 32);
  EXPECT_EQ(plan.head_card, 1);
  const double first = card_use(s, plan, 0).weights.real().value(),
               second = card_use(s, plan, 1).weights.real().value();
  EXPECT_LT(std::abs(first / second - 1), 0.15);
}

TEST_F(TowerSplit, GpuLayersCountTheTextAlone) {
  s.layer_split = &split;
  split.gpu_layers = 10;
  EXPECT_EQ(place(s, 1.0).on_cards, (Range{layers - 10, layers}));
  EXPECT_EQ(place(s, 1.0).head, Where::cpu);
  split.gpu_layers = 62;
  EXPECT_EQ(place(s, 1.0).on_cards, (Range{0, layers})) << "with the tower";
  EXPECT_EQ(place(s, 1.0).head, Where::cpu);
  EXPECT_EQ(counted_layers(*w.model, place(s, 1.0).on_cards), 62);
  split.gpu_layers = 63;
  EXPECT_EQ(place(s, 1.0).head, Where::card);
}

}  // namespace
}  // namespace headroom::model
