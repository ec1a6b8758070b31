// The layers of CLIP's and SigLIP's towers. Many other towers copied them.
#pragma once

#include <string>
#include <string_view>

#include "model/describe/architectures/words.hpp"

namespace headroom::model::families {

/// Sizes of a tower. A list of two patch sizes must hold equal ones.
struct TowerSizes {
  Size hidden, inner, heads, layers, channels, patch;
  std::string act;
};
/// Reads hidden_size, intermediate_size, heads, layers, num_channels, patch_size and hidden_act.
/// `act` applies if the config has no hidden_act.
TowerSizes tower_sizes(const Config& c, std::string_view act);

/// k, v, q and out projections with biases, as child `self_attn`.
Part tower_attention(std::string_view class_name, Size hidden);
/// Activation, fc1, fc2.
Part tower_mlp(std::string_view name, std::string_view class_name, const TowerSizes& s);

/// The module that a layer registers first: attention in CLIP, the first norm in SigLIP.
enum class First { attention, norm };
/// The child `encoder`. Its class names are `prefix` + Encoder, EncoderLayer, Attention and MLP.
Part tower_encoder(std::string_view prefix, const TowerSizes& s, First first);

/// SigLIP's pooling: attention with one learned query, as child `head`.
Part pooling_head(std::string_view prefix, const TowerSizes& s);

/// A layer of a vision transformer with timm's names. `scale` names the tensor of its two trained
/// lengths (ls1, ls2); empty: it has none.
Part timm_layer(Size width, Size inner, std::string_view scale = "");
/// timm's pooling of SigLIP: attention with one learned query, as child `attn_pool`.
Part timm_pooling(Size width, Size inner);

/// CLIP's vision model: embeddings of class `embeddings`, two outer norms and the encoder.
Part clip_vision_body(const Config& c, std::string_view embeddings, std::string_view prefix);

}  // namespace headroom::model::families
