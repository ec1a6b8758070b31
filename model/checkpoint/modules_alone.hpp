// Models of which bitsandbytes quantises modules alone.
#pragma once

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// True if one parameter stacks experts, and no module holds them.
bool stacks_experts(const Model& model);

/// `model`, of which bitsandbytes quantises linear modules alone. transformers 5 replaces nn.Linear
/// and Conv1D and stacks experts in parameters, which stay in 16 bit (transformers 5.24
/// integrations/bitsandbytes.py replace_with_bnb_linear, quantizer_bnb_4bit.py
/// param_needs_quantization; bitsandbytes issue 1849).
Model with_modules_alone(const Model& model);

}  // namespace headroom::model
