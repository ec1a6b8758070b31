// The bytes that a checkpoint's files hold, beside those that a runtime keeps in memory.
#pragma once

#include "model/checkpoint/model.hpp"

namespace headroom::model {

/// Bytes of the tensors of the published checkpoint, in its own precision: what the headers say
/// where they were read; else all parameters and stored buffers, and the modules that predict
/// further tokens where their layout is described (model/describe/multi_token_prediction.hpp; their
/// copies are stored again, their projection of two hidden states stays in 16 bit: vLLM
/// deepseek_mtp.py). Left out: headers of the files, scales of a KV cache, tables that are made
/// when a model loads. Throws NotDescribed where the method of quantisation is.
Bytes checkpoint_bytes(const Model& model);

}  // namespace headroom::model
