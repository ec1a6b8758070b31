// The module of Nemotron 3 that predicts a further token.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::nemotron_h {

/// The layers of module `number` ("mtp.layers.0", "mtp.layers.1", …). They share embedding and head
/// with the model.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::nemotron_h
