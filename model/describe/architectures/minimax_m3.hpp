// MiniMax-M3's modules that predict further tokens.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::minimax_m3 {

/// Module `number`: a layer with an indexer and a mixture. It shares embedding and head with the
/// model.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::minimax_m3
