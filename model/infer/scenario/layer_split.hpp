// Where layers go, given by hand: the options of llama.cpp that say so, under its words.
#pragma once

#include <array>
#include <regex>
#include <span>
#include <vector>

#include "hardware/units.hpp"

namespace headroom::model {

struct QuantisedModel;

/// How several cards share layers: whole layers, the rows of each matrix, or one card alone.
enum class SplitMode { layer, row, none };

/// Tensors that stay in host memory although their layer is on a card, as prefix sums over the
/// layers: [0] = 0, [n] = the first n layers.
struct HostTensors {
  std::vector<Bytes> bytes_before;
  std::vector<double> read_dense_before, read_routed_before;  ///< bytes, as in Weights
  std::vector<double> multiplied_before;                      ///< elements, as in Profile
  std::vector<double> layers_before;                          ///< layers that have any
  Size matched = 0;     ///< tensors, those outside the layers counted
  bool output = false;  ///< the output projection is one of them
};

/// The tensors of `weights` whose names in a GGUF file one of `patterns` is found in, as llama.cpp
/// reads --override-tensor (src/llama-model-loader.cpp: std::regex_search, in any layer).
HostTensors tensors_on_host(const QuantisedModel& weights, std::span<const std::regex> patterns);

/// The routed experts of the first `layers` decoding layers: what --n-cpu-moe keeps in host memory.
HostTensors experts_on_host(const QuantisedModel& weights, Size layers);

/// llama.cpp's placement options (common/arg.cpp): -ngl, -ts, -mg, -sm, -nkvo, -ot.
struct LayerSplit {
  static constexpr std::size_t most_cards = 16;  ///< LLAMA_MAX_DEVICES

  Size gpu_layers = -1;  ///< how many of the last layers; all + 1: the output too; -1: what fits
  std::array<float, most_cards> shares{};  ///< of the layers, by card; all 0: by the cards' memory
  SplitMode mode = SplitMode::layer;
  Size main_card = 0;          ///< the card, where one does it all, or what is not split
  bool cache_on_cards = true;  ///< false: caches and attention in host memory
  HostTensors on_host;         ///< empty: none
  Size micro_batch = 0;        ///< -ub: tokens of a prefill pass at most; 0: the runtime's
};

}  // namespace headroom::model
