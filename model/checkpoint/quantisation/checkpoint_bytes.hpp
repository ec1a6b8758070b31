// Bytes of a checkpoint's files. Engines may keep other bytes in memory.
#pragma once

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// Tensor bytes of the published checkpoint in its own precision. They come from the headers if
/// these were read.
///
/// Otherwise they are all parameters and stored buffers, plus the multi-token-prediction modules if
/// their layout is described (model/describe/multi_token_prediction.hpp). Copies in these modules
/// are stored again, and their projection of two hidden states stays in 16 bit (vLLM
/// deepseek_mtp.py). Left out: file headers, KV cache scales, and tables made at load time. Throws
/// NotDescribed for an undescribed quantisation method.
Bytes checkpoint_bytes(const Model& model);

}  // namespace headroom::model
