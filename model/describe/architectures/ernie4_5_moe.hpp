// The module of ERNIE 4.5 that predicts a further token.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::ernie4_5_moe {

/// Module `number` ("model.mtp_block.0" and its neighbours): a dense layer and a projection without
/// a norm after it. It shares embedding and head with the model.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::ernie4_5_moe
