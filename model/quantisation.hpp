// How weights are held: a scheme says, tensor by tensor, in which block format.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/precision.hpp"
#include "model/model.hpp"

namespace headroom::model {

/// Who packs the weights, hence which runtimes can hold them.
enum class SchemeFamily { plain, bitsandbytes, gptq, awq, fp8, fp4, gguf };

/// One way to hold a checkpoint: "bf16", "int8" (bitsandbytes), "q4_K_M" (a llama.cpp mix), "gptq-int4" …
struct Scheme {
  std::string_view name;
  std::vector<std::string_view> aliases;
  SchemeFamily family;
  std::string_view meaning;  ///< what stays unquantised, group size, scales
  std::string_view source;
};

std::span<const Scheme> schemes();
/// Throws UnknownName with the nearest names.
const Scheme& scheme(std::string_view name);

/// Bytes of every tensor of `model` held by `scheme`, in the order of model.part.tensors; a tied
/// tensor takes 0 unless the scheme stores it apart. Buffers stay in their own type.
std::vector<Bytes> held_bytes(const Model& model, const Scheme& scheme);

/// A model in a precision: what depends on both and on nothing else, computed once.
struct Weights {
  const Model* model = nullptr;
  const Scheme* scheme = nullptr;
  Bytes total;                          ///< parameters and buffers
  Bytes embedding;                      ///< before the first layer
  Bytes head;                           ///< after the last layer: final norm, head (0 where tied)
  std::vector<Bytes> layer;             ///< each block
  std::vector<Bytes> layers_before;     ///< prefix sums: [0] = 0, [n] = all blocks
  std::vector<double> read_dense;       ///< bytes each block reads whatever is routed (prefix sums)
  std::vector<double> read_routed;      ///< bytes of all experts of each block (prefix sums)
  double head_read = 0;                 ///< bytes read to make logits, its storage tied or not
  Arithmetic arithmetic = Arithmetic::bf16;  ///< units that the matrices are multiplied on
};

Weights hold(const Model& model, const Scheme& scheme);

/// The scheme that a published checkpoint is in, by its config: `quantization_config`, else
/// `torch_dtype` / `dtype`, else "fp32". Throws ConfigError for a method that is not known.
std::string checkpoint_scheme(const Config& config);

}  // namespace headroom::model
