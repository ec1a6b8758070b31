// DeepSeek-V4's module that predicts a further token.
#pragma once

#include "model/describe/config.hpp"
#include "model/describe/part.hpp"

namespace headroom::model::families::deepseek_v4 {

/// Module `number` ("mtp.0"): its tensors with stacked experts. It shares embedding and head with
/// the model.
Part predictor(const Config& config, Size number);

}  // namespace headroom::model::families::deepseek_v4
