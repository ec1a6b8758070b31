// The tower that turns images into tokens of the context: its layers and modules, and the modules
// between it and the language model.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// True if layer `i` of model.profile.layers is in a tower (images, sound) next to a decoder. Text
/// does not run through it.
bool in_a_tower(const Model& model, Size i);

struct VisionTower {
  std::string root;          ///< "model.visual"
  Size first = 0, last = 0;  ///< its layers
  Size hidden = 0;
  Size patches_of_token = 1;
  Size class_tokens = 0;  ///< in addition to the patches of an image (CLIP: 1)
  /// True if a tensor or module lies in it: below its root, without the modules that merge patches
  /// into tokens.
  bool contains(std::string_view name) const;
};

/// The tower of a model whose images are described (model/describe/images.hpp).
std::optional<VisionTower> vision_tower(const Model& model);

}  // namespace headroom::model
