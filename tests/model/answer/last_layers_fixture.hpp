// Weights of a layer split on cards.
#pragma once

#include <gtest/gtest.h>

#include <random>
#include <set>
#include <utility>

#include "hardware/units.hpp"
#include "model/answer/placement/layers_by_context.hpp"
#include "model/answer/placement/parallel_splits.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/scenario/verdict.hpp"
#include "tests/support/scenarios.hpp"

namespace headroom::model {

using test::catalogue_model;
using test::machine;
using test::scenario;

/// A model under llama.cpp with a placement by hand; `split` has llama.cpp's own until it is set.
struct SplitByHand {
  SplitByHand(const char* model, const char* precision, Machine cards)
      : w(quantise(catalogue_model(model), scheme(precision))), box(std::move(cards)) {
    s.layer_split = &split;
  }
  SplitByHand(const SplitByHand&) = delete;  // the scenario points into it
  SplitByHand& operator=(const SplitByHand&) = delete;

  const QuantisedModel w;
  const Machine box;
  LayerSplit split;
  Scenario s = scenario(w, box, "llama.cpp");
};

inline Bytes weights_on_cards(const Scenario& s, const Plan& plan) {
  Bytes sum;
  for (Size card = 0; card < plan.cards; ++card) sum += card_use(s, plan, card).weights;
  return sum;
}

/// oobabooga.github.io@1df6730 blog/posts/gguf-vram-formula: granite-3.3-8b-instruct in IQ3_M,
/// llama.cpp, context 512, `ngl` of 40 layers, memory used in MiB.
struct MeasuredMemory {
  Size ngl;
  double used;
};
constexpr MeasuredMemory granite[] = {{5, 1338},  {10, 1770}, {15, 2202}, {20, 2634},
                                      {25, 3066}, {30, 3496}, {35, 3928}, {40, 4394}};
constexpr const char* granite_config = R"({
  "architectures": ["GraniteForCausalLM"], "model_type": "granite", "hidden_size": 4096,
  "num_hidden_layers": 40, "num_attention_heads": 32, "num_key_value_heads": 8,
  "intermediate_size": 12800, "vocab_size": 49159, "tie_word_embeddings": true,
  "max_position_embeddings": 131072, "torch_dtype": "bfloat16"})";

}  // namespace headroom::model
