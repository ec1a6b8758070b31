// Names that the reader of layers understands: activations by what they keep, and what modules and
// tensors of a layer are called.
#pragma once

#include <string_view>

#include "model/describe/layer_spec.hpp"

namespace headroom::model::layers {

ActivationKind activation_kind(std::string_view class_name);

/// True if it is known what a layer does with a module (or tensor) of that name. `mixes`: it has a
/// recurrent mixer, whose names mean nothing elsewhere.
bool is_understood(std::string_view name, bool mixes);

}  // namespace headroom::model::layers
