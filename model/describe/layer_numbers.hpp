// Numbers of layers as users count them: the decoder's from 0 on, those of towers and encoders
// apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
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
/// `before` is the stack of the layers that the text so far ends with: a decoder after it is named.
std::string layer_words(const Profile& profile, Range layers, std::string_view before = {});
/// The stack of the last layer of `layers`, for the words that follow; `before` where it is empty.
std::string_view last_stack(const Profile& profile, Range layers, std::string_view before);

}  // namespace headroom::model
