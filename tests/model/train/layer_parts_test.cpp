// Parts of layers that no class of transformers 5.23 has, against what autograd keeps of them, and
// models whose layers are put together from such parts.
//
// Figures: saved_tensors_hooks of torch 2.15 on the reference's functions with random weights, 2
// sequences of 20 tokens, storages once and whole, without parameters. Reference:
// transformers models/kimi_k3/modular_kimi_k3.py (in preparation).
#include <gtest/gtest.h>

#include "model/train/tape/layer_run.hpp"
#include "model/train/tape/saved_activation.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {
namespace {

double kept(const Tape& tape) {
  const Tape::Sums sums = tape.saved();
  return sums.outer.at(2, 20) + sums.inner.at(2, 20);
}

TEST(LayerParts, ResidualsOfEarlierLayersAreKeptInFp32) {
  for (const Held held : {Held::bf16, Held::fp32}) {
    Tape tape({.parameters = held});
    mix_residuals(tape, tape.make(tokens(64), held, true), 2, 64);
    EXPECT_EQ(kept(tape), 93120);  // three of 64 elements, concatenated, normed and weighted
  }
}

TEST(LayerParts, SituKeepsSixTensorsInFp32) {
  Tape tape({.parameters = Held::bf16});
  ForwardPass pass{.tape = &tape};
  FeedForwardUse use;
  use.hidden = 64, use.inner = 96;
  use.gating = Gating::separate;
  use.activation = ActivationKind::situ;
  use.bends_up = true;
  run_feed_forward(pass, tape.make(tokens(64), Held::bf16, true), use);
  EXPECT_EQ(kept(tape), 104960);
}

/// Saved bytes of layer `i` for one sequence of 16 tokens in 16 bit.
double layer_of(const SavedActivations& saved, std::size_t i) { return saved.layer(i, 1, 16); }

SavedActivations saved_of(const std::string& name) {
  const Model m = test::catalogue_model(name);
  const SavedActivations saved = saved_activations(m, usual_execution(m), {.one_sequence = true});
  for (const SavedLayer& kind : saved.kinds) {
    if (kind.tower) continue;
    EXPECT_EQ(kind.unknown, "") << name;
  }
  return saved;
}

TEST(LayerParts, ModelsMadeOfThemAreDescribed) {
  for (const auto name :
       {"moonshotai/Kimi-K3", "inclusionAI/Ling-3.0-flash", "meituan-longcat/LongCat-Flash-Chat",
        "Snowflake/snowflake-arctic-base", "xai-org/grok-2", "microsoft/deberta-v3-base",
        "Zyphra/Zamba2-2.7B", "PowerInfer/SmallThinker-4BA0.6B-Instruct", "RWKV/rwkv-4-169m-pile"})
    EXPECT_GT(saved_of(name).total(1, 16), 0) << name;
}

/// A layer that a search left out hands its input on: nothing is kept, not even for recomputation.
TEST(LayerParts, SkippedLayersKeepNothing) {
  const Model m = test::catalogue_model("nvidia/Llama-3_1-Nemotron-Ultra-253B-v1");
  const SavedActivations saved = saved_of("nvidia/Llama-3_1-Nemotron-Ultra-253B-v1");
  std::size_t skipped = 0;
  for (std::size_t i = 0; i < saved.kind_of.size(); ++i) {
    if (layer_spec(m.part, static_cast<Size>(i)).skipped) {
      ++skipped;
      EXPECT_EQ(layer_of(saved, i), 0) << i;
      EXPECT_EQ(saved.kinds[saved.kind_of[i]].input, Polynomial{}) << i;
    } else {
      EXPECT_GT(layer_of(saved, i), 0) << i;
    }
  }
  EXPECT_GT(skipped, 0U);
}

/// Every twelfth layer of Kimi K3 adds its input to the residuals that later layers mix.
TEST(LayerParts, LaterLayersMixMoreResiduals) {
  const Model m = test::catalogue_model("moonshotai/Kimi-K3");
  const SavedActivations saved = saved_of("moonshotai/Kimi-K3");
  std::size_t first = 0;  // behind the tower
  while (in_a_tower(m, static_cast<Size>(first))) ++first;
  // Layers 5 and 17 are alike but for one residual before each half.
  const double hidden = 7168, scores = 2;  // a root and a share of each
  EXPECT_EQ(layer_of(saved, first + 17) - layer_of(saved, first + 5),
            16 * 2 * 4 * (3 * hidden + scores));
}

}  // namespace
}  // namespace headroom::model
