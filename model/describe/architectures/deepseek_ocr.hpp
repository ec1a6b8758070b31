// Functions that DeepSeek-OCR's text models share.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families {

/// The sparse feed-forward of a layer, as its child `mlp`: routed experts and shared experts.
Part ocr_mixture(const Config& c, Classes t, const Common& s, Bias mlp_bias);

}  // namespace headroom::model::families
