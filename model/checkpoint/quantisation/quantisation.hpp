// Quantisation of weights. A scheme gives the block format of each tensor.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/precision.hpp"
#include "model/checkpoint/allocator.hpp"
#include "model/checkpoint/model.hpp"
#include "model/checkpoint/shards.hpp"

namespace headroom::model {

/// `count` matrices with `out` rows of `in` elements: a linear layer, or stacked experts.
struct Matrix {
  Size count, out, in;
  bool biased = false;  ///< the layer has a bias as a separate tensor
};

/// Tensors that a scheme converts. The others stay in 16 bit.
enum class Reach {
  everything,               ///< every floating tensor, norms included
  linears,                  ///< weights of linear layers and experts, except the head
  decoder_blocks,           ///< as above, in decoder layers only: GPTQ and AWQ skip towers
  decoder_blocks_and_head,  ///< as above, and the head: ExLlama
  experts,                  ///< weights of experts; linear layers of a model without experts
  matrices,   ///< weights of all matrices whose rows are whole groups, embeddings and the head
              ///< included
  llama_cpp,  ///< by llama.cpp's rules, tensor by tensor
};

/// Format family of the packed weights. It determines which engines can load them.
enum class SchemeFamily {
  plain,
  bitsandbytes,
  gptq,
  awq,
  fp8,
  fp4,
  gguf,
  compressed_tensors,
  mlx,
  exl2,    ///< of ExLlamaV2
  exl3,    ///< of ExLlamaV3
  gguf_ik  ///< GGUF files with types that only ik_llama.cpp reads
};
constexpr bool is_gguf(SchemeFamily family) {
  return family == SchemeFamily::gguf || family == SchemeFamily::gguf_ik;
}

/// A way to store weights: "bf16", "int8" (bitsandbytes), "q4_K_M" (a llama.cpp mix), "gptq-int4" …
struct Scheme {
  std::string_view name;
  std::vector<std::string_view> aliases;
  SchemeFamily family;
  std::string_view meaning;  ///< unquantised tensors, group size, scales
  std::string_view source;
  Reach reach;
  std::string_view format;  ///< row of precisions() for converted tensors
  /// Bytes of a converted tensor with scales, zero points and codebooks. Null: the format's blocks,
  /// row by row.
  Bytes (*packed)(const Matrix&, const Scheme&) = nullptr;
  Size group = 0;  ///< elements of a row with a common scale; 0: the whole row
  Size bits = 0;   ///< per element, for `packed`; thousandths of a bit where bits are a mean
  /// llama_cpp: the mix of formats (model/checkpoint/quantisation/mix.hpp); empty: one format
  std::string_view mix = {};
  /// llama_cpp: made with an importance matrix, which changes some formats
  bool importance = false;
  /// `quant_method` of published checkpoints in this scheme; empty: they have none, or several
  std::string_view method = {};
  Size single_bytes = 0;  ///< bytes of single values in each matrix, beside what `packed` counts
  Size head_bits =
      0;  ///< as `bits`, of the output head, which is a copy if it is tied; 0: as others
  std::string_view rest = "bf16";  ///< row of precisions() for weights that are not converted
};

std::span<const Scheme> schemes();
/// Null where no scheme has the name. Case-insensitive.
const Scheme* find_scheme(std::string_view name);
/// As find_scheme(); throws UnknownName with the nearest names.
const Scheme& scheme(std::string_view name);

/// A stored tensor: the format of its elements, and its bytes with scales and codebooks.
struct QuantisedTensor {
  const Precision* format = nullptr;  ///< null: integers or booleans
  Bytes bytes;
};

/// Why `scheme` cannot store `model`; empty if it can. Either llama.cpp lacks the architecture, or
/// the scheme finds nothing to convert. quantised_tensors() throws std::invalid_argument with this
/// text; quantise() stores it in QuantisedModel::refusal.
std::string refusal(const Model& model, const Scheme& scheme);

/// Every tensor of `model` in `scheme`, in the order of model.part.tensors. A tied tensor takes 0
/// bytes unless the scheme stores it separately. If `scheme` is the checkpoint's own and the
/// headers of its tensors were read, their bytes are kept
/// (model/checkpoint/quantisation/stored.hpp). Integer buffers stay in their own type, rotary
/// tables and routers' correction biases in fp32. If `scheme` is the checkpoint's own, the
/// exceptions of its config apply (model/checkpoint/checkpoint.hpp).
std::vector<QuantisedTensor> quantised_tensors(const Model& model, const Scheme& scheme);
std::vector<Bytes> quantised_bytes(const Model& model, const Scheme& scheme);

/// How weights come from the checkpoint's files: in their own format (as packed schemes are
/// published), cast to another type, or quantised while loading (bitsandbytes).
enum class FromFiles : std::uint8_t { as_they_are, cast, packed };

/// A model in a precision, computed once: everything that depends only on these two.
/// total = embedding + all of layer + head.
struct QuantisedModel {
  const Model* model = nullptr;
  std::shared_ptr<const Model> owned_model;  ///< `model` where an engine loads it in another form
  /// a frozen base with what is not quantised in fp32 (model/train/runtime.hpp, frozen_base)
  std::shared_ptr<const QuantisedModel> raised;
  const Scheme* scheme = nullptr;
  std::string refusal;      ///< why the scheme cannot store the model; then there are no bytes
  Bytes total;              ///< parameters and buffers, adapters
  Bytes adapters{};         ///< low-rank adapters among these
                            ///< (model/infer/memory/served_adapters.hpp)
  Bytes adapters_most{};    ///< including adapters that only some models' classes need
  Bytes embedding;          ///< before the first decoder layer, and all embeddings
  Bytes head;               ///< everything else outside the layers: final norm, head (0 if tied)
  Size largest_matrix = 0;  ///< elements of the largest matrix in a layer, without experts
  double head_read = 0;     ///< bytes read to compute logits, also if tied
  FromFiles from_files = FromFiles::as_they_are;
  double of_files = 1;                 ///< checkpoint bytes per byte in memory
  Size file_tensors = 0;               ///< tensors of its files, each expert's own among them
  std::vector<Bytes> layer;            ///< each layer, as in model.profile.layers
  std::vector<Bytes> layers_before;    ///< prefix sums: [0] = 0, [n] = all layers
  std::vector<Bytes> largest_from;     ///< [n]: the largest of the layers from n on
  std::vector<Bytes> experts_before;   ///< all experts among these
  std::vector<Bytes> separate_before;  ///< q, k and v as separate matrices, among these
  // Prefix sums of the bytes that a forward pass reads of each layer, as often as it runs: without
  // routed experts, and of all experts.
  std::vector<double> read_dense, read_routed;
  Shards shards;                             ///< these bytes by how cards divide them
  BlockRests rests;                          ///< overhead of PyTorch's allocator
  Arithmetic arithmetic = Arithmetic::bf16;  ///< units that multiply most matrix elements
};

QuantisedModel quantise(const Model& model, const Scheme& scheme);

/// Additional bytes of a layer.
struct Addition {
  Bytes bytes;
  double read = 0;  ///< bytes that a forward pass reads of them
  Divided divided;  ///< these bytes by how cards divide them
};
/// `weights` with `additions`, one for each layer, and with all sums over layers updated.
QuantisedModel with_additions(QuantisedModel weights, const std::vector<Addition>& additions);

}  // namespace headroom::model
