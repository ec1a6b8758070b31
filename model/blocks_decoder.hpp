// What most decoders name and configure alike: class names built from the family's own, the rotated
// share of a head, kinds of layers, and the layer of attention and feed-forward behind norms.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/blocks.hpp"
#include "model/config.hpp"

namespace headroom::model {

/// Class names of a family: Classes{"Mixtral"}("Attention") is "MixtralAttention".
struct Classes {
  std::string_view family;
  std::string operator()(std::string_view suffix) const {
    return std::string(family) + std::string(suffix);
  }
};

/// Dimensions of a head that are rotated: int(head_dim * partial_rotary_factor). The factor is
/// taken from rope_parameters (or rope_scaling), else from the config itself, else `factor`.
/// Source: transformers 5.23, modeling_rope_utils.py, convert_rope_params_to_dict.
inline Size rotated_dims(const Config& c, Size head_dim, double factor = 1.0) {
  const double own = c.number({"partial_rotary_factor"}, factor);
  const std::string_view rope = c.has("rope_scaling") ? "rope_scaling" : "rope_parameters";
  const double share = c.section_or_empty(rope).number({"partial_rotary_factor"}, own);
  if (!(share > 0 && share <= 1))
    c.fail("partial_rotary_factor", "found " + std::to_string(share) + ", expected above 0 to 1");
  return static_cast<Size>(static_cast<double>(head_dim) * share);
}

/// Entry `i` of a per-layer list of the config; throws where the list is too short.
inline const std::string& layer_type(const Config& c, const std::vector<std::string>& types, Size i,
                                     std::string_view key = "layer_types") {
  if (static_cast<std::size_t>(i) >= types.size())
    c.fail(key, "found " + std::to_string(types.size()) + " entries, expected one for each layer");
  return types[static_cast<std::size_t>(i)];
}

/// Sliding window of layer `i` in tokens, 0 without one: `window` where `layer_types` calls the
/// layer "sliding_attention", or `otherwise` where the config has no such list.
inline Size window_of(const Config& c, Size i, Size window, Size otherwise) {
  const auto types = c.texts({"layer_types"});
  if (types.empty()) return otherwise;
  return layer_type(c, types, i) == "sliding_attention" ? window : 0;
}

/// Attention and feed-forward, each behind its norm.
inline Part decoder_layer(Classes k, Size hidden, Part attention, Part feed_forward) {
  return in("self_attn", k("Attention"), std::move(attention)) + std::move(feed_forward) +
         rms_norm("input_layernorm", k("RMSNorm"), hidden) +
         rms_norm("post_attention_layernorm", k("RMSNorm"), hidden);
}

}  // namespace headroom::model
