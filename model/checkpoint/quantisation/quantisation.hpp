// How weights are held: a scheme says, tensor by tensor, in which block format.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/precision.hpp"
#include "model/checkpoint/allocator.hpp"
#include "model/checkpoint/model.hpp"
#include "model/checkpoint/shards.hpp"

namespace headroom::model {

/// `count` matrices of `out` rows that each hold `in` elements: a linear layer, or stacked experts.
struct Matrix {
  Size count, out, in;
  bool biased = false;  ///< the layer has a bias, a tensor of its own
};

/// Which tensors a scheme converts. What is not converted stays in 16 bit.
enum class Reach {
  everything,      ///< every floating tensor, norms included
  linears,         ///< weights of linear layers and of experts, the head left out
  decoder_blocks,  ///< the same, only in blocks that decode: GPTQ and AWQ leave towers alone
  experts,         ///< weights of experts; linear layers where a model has none
  llama_cpp,       ///< by llama.cpp's rules, tensor by tensor
};

/// Who packs the weights, hence which runtimes can hold them.
enum class SchemeFamily { plain, bitsandbytes, gptq, awq, fp8, fp4, gguf, compressed_tensors };

/// One way to hold a checkpoint: "bf16", "int8" (bitsandbytes), "q4_K_M" (a llama.cpp mix),
/// "gptq-int4" …
struct Scheme {
  std::string_view name;
  std::vector<std::string_view> aliases;
  SchemeFamily family;
  std::string_view meaning;  ///< what stays unquantised, group size, scales
  std::string_view source;
  Reach reach;
  std::string_view format;  ///< row of precisions() that converted tensors are held in
  /// Bytes of one converted tensor with all that lies beside it (scales, zero points, codebooks);
  /// null: the format's blocks, row by row.
  Bytes (*packed)(const Matrix&, const Scheme&) = nullptr;
  Size group = 0;             ///< elements of a row that share a scale; 0: the whole row
  Size bits = 0;              ///< per element, where `packed` asks
  std::string_view mix = {};  ///< llama_cpp: the mix of formats
                              ///< (model/checkpoint/quantisation/mix.hpp); empty: one format
  bool importance = false;    ///< llama_cpp: made with an importance matrix, which changes some
};

std::span<const Scheme> schemes();
/// Throws UnknownName with the nearest names. Case-insensitive.
const Scheme& scheme(std::string_view name);

/// One tensor as held: the format of its elements, and its bytes with scales and codebooks.
struct QuantisedTensor {
  const Precision* format = nullptr;  ///< null: integers or booleans
  Bytes bytes;
};

/// Why `scheme` cannot hold `model`, in words; empty where it can: llama.cpp has no such
/// architecture, or the scheme finds nothing to convert. held() throws std::invalid_argument with
/// them, hold() keeps them.
std::string refusal(const Model& model, const Scheme& scheme);

/// Every tensor of `model` held by `scheme`, in the order of model.part.tensors; a tied tensor
/// takes 0 unless the scheme stores it apart. Where `scheme` is the checkpoint's own and the
/// headers of its tensors were read, their bytes are kept
/// (model/checkpoint/quantisation/stored.hpp). Integer buffers stay in their own type, rotary
/// tables and routers' correction biases in fp32. Where `scheme` is the checkpoint's own, the
/// exceptions that its config lists are kept (model/checkpoint/checkpoint.hpp).
std::vector<QuantisedTensor> held(const Model& model, const Scheme& scheme);
std::vector<Bytes> held_bytes(const Model& model, const Scheme& scheme);

/// How weights come from the checkpoint's files: in their own format, which those of packed
/// schemes are published in; cast to another; quantised on the way (bitsandbytes).
enum class FromFiles : std::uint8_t { as_they_are, cast, packed };

/// A model in a precision: what depends on both and on nothing else, computed once.
/// total = embedding + all of layer + head.
struct QuantisedModel {
  const Model* model = nullptr;
  const Scheme* scheme = nullptr;
  std::string refusal;      ///< why the scheme cannot hold the model: no bytes then
  Bytes total;              ///< parameters and buffers, adapters
  Bytes adapters{};         ///< of them, low-rank adapters (model/infer/memory/served_adapters.hpp)
  Bytes adapters_most{};    ///< with what only some models' classes ask for
  Bytes embedding;          ///< before the first decoding block, and all embeddings
  Bytes head;               ///< all else outside the blocks: final norm, head (0 if tied)
  Size largest_matrix = 0;  ///< elements of the largest one in a block, not of experts
  double head_read = 0;     ///< bytes read to make logits, its storage tied or not
  FromFiles from_files = FromFiles::as_they_are;
  double of_files = 1;                 ///< bytes of the checkpoint's files for each byte held
  std::vector<Bytes> layer;            ///< each block, as model.profile.layers
  std::vector<Bytes> layers_before;    ///< prefix sums: [0] = 0, [n] = all blocks
  std::vector<Bytes> largest_from;     ///< [n]: the largest of the blocks from n on
  std::vector<Bytes> experts_before;   ///< of them, all experts
  std::vector<Bytes> separate_before;  ///< of them, q, k and v where each is a matrix of its own
  // Bytes that one forward pass reads of each block, as often as it runs (prefix sums): whatever is
  // routed, and all experts.
  std::vector<double> read_dense, read_routed;
  Shards shards;                             ///< the same bytes by the way cards divide them
  BlockRests rests;                          ///< what PyTorch's allocator holds beside them
  Arithmetic arithmetic = Arithmetic::bf16;  ///< units that most matrix elements are multiplied on
};

QuantisedModel quantise(const Model& model, const Scheme& scheme);

/// What lies in one layer beside what `hold` put there.
struct Addition {
  Bytes bytes;
  double read = 0;  ///< bytes of it that one forward pass reads
  Divided divided;  ///< the same bytes by the way cards divide them
};
/// `weights` with `additions`, one for each layer, and all sums over layers made again.
QuantisedModel with_additions(QuantisedModel weights, const std::vector<Addition>& additions);

}  // namespace headroom::model
