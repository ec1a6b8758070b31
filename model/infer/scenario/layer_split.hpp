// Placement of layers by hand: the options of llama.cpp, under its own names.
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "hardware/units.hpp"
#include "model/describe/layer_range.hpp"

namespace headroom::model {

struct Model;
struct QuantisedModel;
struct Scenario;

/// How several cards share the model: by layers, by rows of each matrix, or one card holds it.
enum class SplitMode { layer, row, none };

/// Tensors that stay in host memory although their layer is on a card. Each list is a prefix sum
/// over the layers: [0] = 0, [n] = the first n layers.
struct HostTensors {
  std::vector<Bytes> bytes_before;
  std::vector<double> read_dense_before, read_routed_before;  ///< bytes, as in QuantisedModel
  std::vector<double> multiplied_before;                      ///< elements, as in Profile
  std::vector<double> layers_before;                          ///< layers with such tensors
  Size matched = 0;     ///< tensors, including those outside layers
  bool output = false;  ///< the output projection is among them
  /// Bytes that a rule puts on a card, wherever their layer is: one such list for each card that a
  /// rule names. They are read as if they were with their layer.
  std::vector<std::vector<Bytes>> on_card_before;
};

/// The place of tensors whose GGUF names contain a match of `pattern`.
struct TensorRule {
  static constexpr Size host = -1;
  std::string pattern;
  Size card = host;
};

/// Tensors of `weights` by the first of `rules` that matches. llama.cpp reads --override-tensor
/// this way (src/llama-model-loader.cpp: std::regex_search, in any layer). Throws
/// std::invalid_argument for a pattern that is no regular expression.
HostTensors tensors_by_rules(const QuantisedModel& weights, std::span<const TensorRule> rules);
/// All rules keep tensors in host memory.
HostTensors tensors_on_host(const QuantisedModel& weights, std::span<const std::string> patterns);

/// Routed experts of the first `layers` decoding layers. --n-cpu-moe keeps them in host memory.
HostTensors experts_on_host(const QuantisedModel& weights, Size layers);

/// True if the engine keeps the model's routed experts there unless options place them.
bool keeps_experts_in_host(const Scenario& scenario);

/// True if cards share the rows of each matrix.
bool shares_rows(const Scenario& scenario);

/// Layers before the decoder that are no encoder of its text: a vision or audio tower, which
/// llama.cpp keeps in a file of its own.
Size tower_layers(const Model& model);
/// The layers that --gpu-layers counts: all without towers before and after them. A model that does
/// not generate has no towers.
Range counted_layers(const Model& model);
/// Number of `layers` that it counts.
Size counted_layers(const Model& model, Range layers);

/// llama.cpp's placement options (common/arg.cpp): -ngl, -ts, -mg, -sm, -nkvo, -ot.
struct LayerSplit {
  static constexpr std::size_t max_cards = 16;  ///< LLAMA_MAX_DEVICES

  /// Layers and the output, in the order of the engine (offload.output_first); all + 1: both; -1:
  /// as many as fit.
  Size gpu_layers = -1;
  std::array<float, max_cards> shares{};  ///< shares of the layers, by card; all 0: by the cards'
                                          ///< memory
  SplitMode mode = SplitMode::layer;
  Size main_card = 0;          ///< holds the whole model, or what is not split
  bool cache_on_cards = true;  ///< false: KV cache and attention stay on the host
  HostTensors on_host;         ///< empty: none
};

}  // namespace headroom::model
