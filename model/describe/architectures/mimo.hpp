// The module of MiMo-7B that predicts a further token. The model itself has Qwen2's layers.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::mimo {

/// Module `number` ("model.mtp_layers.0"). It shares embedding and head with the model.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::mimo
