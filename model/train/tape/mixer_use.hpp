// What a recurrent mixer is made of, and whether all of a layer is understood.
#pragma once

#include <optional>
#include <string>

#include "model/train/tape/layer_use.hpp"
#include "model/train/tape/subtree.hpp"

namespace headroom::model {

/// By its tensors; null: none that is described.
std::optional<MixerUse> mixer_use(const Model& model, const Subtree& tree);

/// The first module with weights in a layer whose use is not known; empty: none. `mixes`: the layer
/// has a mixer.
std::string unknown_module(const Subtree& layer, bool mixes);

}  // namespace headroom::model
