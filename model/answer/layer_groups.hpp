// Layers of a segment that are alike, in words.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "model/infer/timeline/timeline.hpp"

namespace headroom::model {

/// Items that are alike, and the layers that they are of.
struct LayerGroup {
  LayerItem one;
  std::vector<Size> layers;
};
std::vector<LayerGroup> groups_of(std::span<const LayerItem> items);

/// "32 layers: 0-31", "58 layers, experts: 3-60", "32 layers: vision 0-31", "output", "embedding".
std::string group_words(const Profile& profile, const LayerGroup& group);

}  // namespace headroom::model
