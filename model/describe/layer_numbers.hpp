// Numbers of layers as users count them: the decoder's from 0 on, those of towers and encoders
// apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/describe/layer_range.hpp"
#include "model/describe/profile.hpp"

namespace headroom::model {

/// Sets `stack` and `number` of each layer from `path` and `decodes`.
void number_layers(Profile& profile);

/// Layers by their numbers: "0-12, 14". A stack other than the decoder stands before its numbers:
/// "0-27, vision 0-31". `layers` are indices of profile.layers in order. After `most` runs "…".
std::string layer_words(const Profile& profile, const std::vector<Size>& layers,
                        std::size_t most = SIZE_MAX);
std::string layer_words(const Profile& profile, Range layers);

}  // namespace headroom::model
