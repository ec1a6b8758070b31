// The scheme in which an engine holds the weights of a model in memory.
#pragma once

#include <string>

#include "hardware/machine.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/engine.hpp"

namespace headroom::model {

/// Ways to load weights.
enum class Loading {
  as_stored,  ///< it runs them
  unpacked,   ///< it loads them in 16 bit
  refused,    ///< it stops with an error
};

/// How `engine` loads `model` in `scheme` on `machine`: by the method of the checkpoint, or by that
/// of published checkpoints in the scheme. Engines ask the first card. A card without a maker, or
/// of NVIDIA without a compute capability, is taken to be one that runs them.
/// Source: the engine's row, WeightPolicy::checkpoints.
Loading loading_of(const Model& model, const Scheme& scheme, const Engine& engine,
                   const Machine& machine);

/// Why loading_of() says `refused`: "it has no kernels for modelopt checkpoints on m3-max-48gb,
/// only on nvidia 8.0, amd". Empty otherwise.
std::string loading_refusal(const Model& model, const Scheme& scheme, const Engine& engine,
                            const Machine& machine);

/// The scheme in memory of weights in `asked`; null is "auto", the checkpoint's own. Fp8 and
/// fp8-block mean the checkpoint's own weights if these are 8-bit floats. Weights that the engine
/// unpacks are in bf16. "auto" of a checkpoint in fp32 is what the engine casts it to
/// (WeightPolicy::fp32_checkpoints), and of one in bf16 fp16 on cards without bf16, where it has
/// no such kernels (WeightPolicy::without_bf16). "auto" of an engine that reads GGUF files is what
/// llama.cpp's converter writes. A checkpoint in MXFP4 keeps its experts, and all other quantised
/// tensors become Q8_0 (convert_hf_to_gguf.py, GptOssModel; the files that ggml-org publishes). Its
/// files keep them in bf16 and fp16 too.
const Scheme& loaded_scheme(const Model& model, const Scheme* asked, const Engine& engine,
                            const Machine& machine);

/// Why weights in `asked` (null: "auto") are in another scheme in memory: "transformers unpacks fp8
/// checkpoints to 16 bit on rtx-3090". Empty: they are as asked for.
std::string loading_note(const Model& model, const Scheme* asked, const Engine& engine,
                         const Machine& machine);

}  // namespace headroom::model
