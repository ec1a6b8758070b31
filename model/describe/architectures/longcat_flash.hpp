// The module of LongCat-Flash that predicts a further token.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::longcat_flash {

/// Module `number` ("model.mtp.layers.0"): one attention and a dense feed-forward. Files store the
/// embedding a second time for it.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::longcat_flash
