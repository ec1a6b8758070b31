// The precision that a runtime uses for "auto".
#pragma once

#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

/// The checkpoint's own scheme. If `runtime` reads GGUF files, it is the scheme that llama.cpp's
/// converter writes. A checkpoint in MXFP4 keeps its experts, and all other quantised tensors
/// become Q8_0 (convert_hf_to_gguf.py, GptOssModel; the files that ggml-org publishes). Other
/// packed checkpoints are left as they are, which such a runtime refuses by name.
const Scheme& default_scheme(const Model& model, const Engine& runtime);

}  // namespace headroom::model
