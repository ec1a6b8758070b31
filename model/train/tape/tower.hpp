// The tower that images go through before they are tokens of the context: which layers and modules
// it is made of, and what lies between it and the language model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// Whether layer `i` of model.profile.layers stands in a tower (images, sound) beside a decoder:
/// text does not run through it.
bool in_a_tower(const Model& model, Size i);

struct VisionTower {
  std::string root;          ///< "model.visual"
  Size first = 0, last = 0;  ///< its layers
  Size hidden = 0;
  Size patches_of_token = 1;
  Size class_tokens = 0;  ///< beside the patches of an image (CLIP: 1)
  /// Whether a tensor or module lies in it: below its root, without what merges patches into
  /// tokens.
  bool contains(std::string_view name) const;
};

/// Of a model whose images are described (model/describe/images.hpp).
std::optional<VisionTower> vision_tower(const Model& model);

}  // namespace headroom::model
