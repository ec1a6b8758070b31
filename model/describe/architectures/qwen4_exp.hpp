// Qwen4-Exp's module that predicts further tokens.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::qwen4_exp {

/// The module: projections, a layer with an indexer and the last mix of the residual streams. It
/// shares embedding and head with the model. Empty for a second one, which no checkpoint has.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::qwen4_exp
