// The modules of MiMo that predict further tokens. MiMo-7B itself has Qwen2's layers.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::mimo {

/// Module `number` ("model.mtp_layers.0"). It shares embedding and head with the model.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::mimo

namespace headroom::model::families::mimo_v2_flash {

/// Module `number` of MiMo-V2 ("model.mtp.layers.0"): attention behind a window and a dense
/// feed-forward. It shares embedding and head with the model.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::mimo_v2_flash
