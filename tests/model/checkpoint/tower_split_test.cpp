// A vision tower is no layer that llama.cpp's options count or split over cards.
#include "model/checkpoint/text_only.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/split.hpp"
#include "tests/model/answer/last_layers_fixture.hpp"

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
  split.gpu_layers = 11;  // the output and ten layers
  EXPECT_EQ(place(s, 1.0).on_cards, (Range{layers - 10, layers}));
  EXPECT_EQ(place(s, 1.0).head, Where::card);
  split.gpu_layers = 63;
  EXPECT_EQ(place(s, 1.0).on_cards, (Range{0, layers})) << "with the tower";
  EXPECT_EQ(counted_layers(*w.model, place(s, 1.0).on_cards), 62);
}

TEST_F(TowerSplit, AnEstimateCountsTheTextAlone) {
  s.layer_split = &split;
  split.gpu_layers = 11;
  const Estimate e = evaluate(s);
  EXPECT_EQ(e.layers_gpu, 10);
  EXPECT_EQ(e.layers_cpu, 52);
  // Likewise where each layer has a place of its own.
  const QuantisedModel whole = quantise(catalogue_model("google/gemma-3-27b-it"), scheme("bf16"));
  const Machine large = machine(1, 80, 64);
  s = scenario(whole, large, "transformers");
  std::vector<Spot> places(static_cast<std::size_t>(layers), Spot{0});
  places.front() = places.back() = on_cpu;
  const Assignment assignment = assign(places, {}, 0, 0);
  s.assignment = &assignment;
  EXPECT_EQ(evaluate(s).layers_gpu, 61);
  EXPECT_EQ(evaluate(s).layers_cpu, 1);
}

TEST(TowerSplitOfAnEncoder, ItsLayersAreCounted) {
  SplitByHand c("google-bert/bert-large-uncased", "fp16", machine(2, 24, 64));
  c.split.gpu_layers = 11;
  EXPECT_EQ(place(c.s, 1.0).on_cards, (Range{14, 24}));
  EXPECT_EQ(evaluate(c.s).layers_cpu, 14);
}

/// llama.cpp common/arg.cpp: --mmproj-offload is on.
TEST_F(TowerSplit, TheTowerIsOnTheFirstCardWhateverTheTextDoes) {
  s.layer_split = &split;
  split.gpu_layers = 11;
  const Plan plan = place(s, 1.0);
  EXPECT_EQ(plan.tower, (Range{0, tower}));
  EXPECT_EQ(plan.on_cpu, (Range{tower, layers - 10}));
  const Bytes first = card_use(s, plan, 0).weights;
  EXPECT_EQ(first, layer_bytes(w, plan.layers_of(0)) + layer_bytes(w, {0, tower}));
  const Bytes host = host_use(s, plan).weights;
  EXPECT_EQ(first + card_use(s, plan, 1).weights + host, w.total + head_bytes(s, false) - w.head)
      << "each tensor is somewhere, once, and the head on the card is a copy of the embedding";
}

/// gemma-4-E4B: 16 layers that see, 42 of the text model, 12 that hear.
TEST(TowersOnBothSides, AreNotCounted) {
  const QuantisedModel w = quantise(catalogue_model("google/gemma-4-E4B-it"), scheme("q8_0"));
  const Machine box = machine(2, 24, 64);
  Scenario s = scenario(w, box, "llama.cpp");
  EXPECT_EQ(counted_layers(*w.model), (Range{16, 58}));
  LayerSplit split;
  s.layer_split = &split;
  split.gpu_layers = 11;
  const Plan part = place(s, 1.0);
  EXPECT_EQ(part.on_cards, (Range{48, 70}));
  EXPECT_EQ(part.on_cpu, (Range{16, 48}));
  EXPECT_EQ(counted_layers(*w.model, part.on_cards), 10);
  EXPECT_EQ(part.layer_boundaries[1], 54);
  EXPECT_EQ(card_use(s, part, 0).weights + card_use(s, part, 1).weights + host_use(s, part).weights,
            w.total + head_bytes(s, false) - w.head);
  split.gpu_layers = 43;
  EXPECT_EQ(place(s, 1.0).on_cards, (Range{0, 70}));
  EXPECT_EQ(place(s, 1.0).head, Where::card);
  split.gpu_layers = 2;
  EXPECT_EQ(place(s, 1.0).layer_boundaries[1], 70) << "with the last layer of the text";
}

/// The rest is the language model (the catalogue's own sum by component).
TEST_F(TowerSplit, TextAloneHasNoTower) {
  const Model text = without_towers(catalogue_model("google/gemma-3-27b-it"));
  EXPECT_EQ(text.profile.parameters, 27'009'346'304);
  EXPECT_EQ(std::ssize(text.profile.layers), layers - tower);
  EXPECT_FALSE(has_towers(text));
  EXPECT_FALSE(has_towers(catalogue_model("Qwen/Qwen3-32B")));
  const QuantisedModel weights = quantise(text, scheme("q8_0"));
  Scenario alone = scenario(weights, box, "llama.cpp");
  alone.layer_split = &split;
  split.gpu_layers = 10;
  EXPECT_EQ(place(alone, 1.0).tower.size(), 0);
  EXPECT_LT(card_use(alone, place(alone, 1.0), 0).weights, card_use(s, place(s, 1.0), 0).weights);
}

}  // namespace
}  // namespace headroom::model
