// Step-5's modules that predict further tokens.
#pragma once

#include "model/describe/architectures/decoder.hpp"

namespace headroom::model::families::step5 {

/// Module `number`, a dense layer with a head of its own; empty where no key says its attention.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::step5
