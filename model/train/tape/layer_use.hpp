// A layer as a training step runs it: what it is (model/describe/layer_spec.hpp) and what the
// config adds, such as dropout and soft caps. The forward pass on the tape is built from this
// alone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "model/checkpoint/model.hpp"
#include "model/describe/layer_spec.hpp"
#include "model/train/tape/execution.hpp"
#include "model/train/tape/tower.hpp"

namespace headroom::model {

struct AttentionUse : AttentionSpec {
  Size value_dim = 0;
  Rotation rotated_by = Rotation::none;  ///< as it runs: none without tables or with ALiBi
  double softcap = 0;
  bool norms_by_head = false;     ///< over each head, not over all of them
  bool linear_positions = false;  ///< ALiBi: a bias on its scores
  bool gated = false;          ///< its output is multiplied by a sigmoid of its input (Qwen3-Next)
  bool gate_in_query = false;  ///< which the query's matrix makes
  bool gathered = false;       ///< keys and values are spread to all heads (Falcon 40B)
  bool shared_key = false;     ///< one key for all heads, broadcast (Falcon 7B)
  bool drops_probabilities = true;
};

struct FeedForwardUse : FeedForwardSpec {
  bool normalised_routing = true;  ///< weights of the chosen experts are divided by their sum
};

struct ParallelExpertsUse {
  FeedForwardUse experts;
  ExpertsRead reads = ExpertsRead::residual;
  std::optional<NormSpec> before, after, after_dense;
};

struct MixerUse : MixerSpec {
  Size hidden = 0;
};

struct LayerUse {
  std::string class_name;
  std::string unknown;   ///< a module that is not understood, or a class; empty: all are
  bool skipped = false;  ///< its result is its input
  std::optional<NormSpec> before_attention, after_attention, before_feed_forward,
      after_feed_forward;
  std::optional<NormSpec> before_cross_attention;
  std::optional<NormSpec> before_layer;
  bool norms_the_sum = false;  ///< BERT: the norm follows the residual's addition
  bool chained = false;        ///< a block without residuals (Zamba)
  Size residuals_before = 0, residuals_after = 0;
  bool parallel = false;                                     ///< both halves read the layer's input
  bool drops_attention = false, drops_feed_forward = false;  ///< hidden dropout after each half
  bool reads_images_alone = false;
  bool scaled = false;  ///< both halves are multiplied by trained lengths (InternViT)
  std::optional<AttentionUse> attention{};
  std::optional<AttentionUse> cross_attention{};  ///< keys and values of the encoder
  std::optional<MixerUse> mixer{};                ///< recurrent, or a convolution
  std::optional<FeedForwardUse> feed_forward{};
  std::optional<ParallelExpertsUse> parallel_experts{};
  std::optional<LayerInputSpec> layer_input{};
  std::optional<StreamsSpec> streams{};
  std::optional<HashedSpec> hashed{};
  std::vector<LayerUse> then{};  ///< parts that follow in the same layer
};

/// Layer `i` of model.part.blocks. `vision`: vision_tower(model), or null.
LayerUse layer_use(const Model& model, const Execution& execution, const VisionTower* vision,
                   Size i);

/// True if both keep the same tensors.
bool same_kind(const LayerUse& a, const LayerUse& b);

/// True if `layer` repeats `earlier`, also in what its tensors do not show: both are used alike.
bool repeats_whole(const Model& model, std::size_t layer, std::size_t earlier);

}  // namespace headroom::model
