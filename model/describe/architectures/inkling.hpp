// Inkling: short convolutions on keys, values and both residual branches, relative logits instead
// of rotations, and sliding windows in five of six layers. Inkling 2 shares these parts.
#pragma once

#include <string_view>

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::inkling {

/// The sizes of one kind of layer.
struct Kind {
  bool sliding;
  Heads heads;
  Size window, reach;  ///< attention window and reach of its relative logits, in tokens
};
Kind kind_of(const Config& c, bool sliding);

/// True if layer `i` attends to a window.
bool slides(const Config& c, Size i);

/// A convolution over the last tokens of each channel. It caches those tokens.
Part short_conv(std::string_view name, Classes k, Size channels, Size kernel);

/// The embedding with a norm behind it.
Part normed_embedding(const Config& c, Classes k);

}  // namespace headroom::model::families::inkling
