// Which weights an engine runs, how they lie in memory and how they are loaded.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "hardware/units.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"
#include "model/engine/constant.hpp"

namespace headroom::model {

/// How weights lie in the memory of a card.
enum class AllocatorBlocks {
  exact,       ///< one after the other
  per_tensor,  ///< each tensor of the checkpoint in blocks of PyTorch's allocator
  fused,       ///< as per_tensor; q, k and v, gate and up, and a layer's experts are one tensor
};

/// Memory layout of low-rank adapters at inference.
enum class AdapterMemory {
  unknown,  ///< not described
  loaded,   ///< each as its file has it, next to the matrices that it adapts
  slots,    ///< a given number of slots of one rank for every linear layer, reserved at start
};

/// Padding of routed experts in MXFP4 on NVIDIA cards, from one compute capability to before
/// another.
struct ExpertTiles {
  double from, before;   ///< compute capability as major.minor
  Size inner_multiple;   ///< multiple for a card's part of the inner width
  Size hidden_multiple;  ///< multiple for the hidden width
  bool scales_twice;     ///< scales are held as loaded and as the kernels want them
};

/// Copies in 16 bit of the matrices that expand MLA's latent, by head, which products with cached
/// latents read. Prefill reads the matrices as they are stored.
enum class LatentCopies {
  none,
  packed,  ///< quantised ones have a copy; those in 16 bit are read where they are
  all,
};

/// How an engine treats checkpoints whose cards lack kernels for their format.
enum class WithoutKernels {
  refused,   ///< it stops with an error
  unpacked,  ///< it loads them in 16 bit
};

/// The cards on which an engine runs checkpoints of some quantisation methods.
struct CheckpointSupport {
  std::vector<std::string_view> methods;  ///< values of `quant_method`
  /// Cards that run the weights as they are stored; nothing: any, and the CPU.
  std::optional<std::vector<CardsFrom>> cards;
  WithoutKernels elsewhere = WithoutKernels::refused;
};

/// Reads "fp8 mxfp8: nvidia 8.9, amd; else 16 bit", "awq gptq" (any card) or "compressed-tensors:
/// none; else 16 bit". Views into `text`. Throws std::invalid_argument saying what is expected.
CheckpointSupport parse_checkpoint_support(std::string_view text);
/// Its cards: "nvidia 8.9, amd", "none", "any".
std::string cards_text(const CheckpointSupport& support);
/// The text that parse_checkpoint_support() reads.
std::string text_of(const CheckpointSupport& support);

/// The type in which an engine loads a checkpoint in fp32 unless another is asked for.
enum class Fp32Checkpoints {
  fp32,
  fp16,
  bf16,  ///< fp16 on cards without bf16, and for models that generate nothing
};

/// How weights in bf16 are loaded on cards of NVIDIA before compute capability 8.0, which lack it.
enum class WithoutBf16 {
  computed,  ///< they stay: kernels convert them
  refused,   ///< fp16 where no type is asked for, and an error where bf16 is
  fp16,      ///< all weights in 16 or 32 bit are loaded in fp16
};

/// Towers of images and sound: weights beside the language model's.
enum class Towers {
  loaded,
  optional,  ///< loaded unless an option leaves them out
  left_out,  ///< the language model alone is loaded
};

struct WeightPolicy {
  std::vector<SchemeFamily> formats;           ///< formats of weights that it runs
  std::vector<CheckpointSupport> checkpoints;  ///< by method; empty: all methods on all cards
  /// Schemes that it makes of 16-bit checkpoints while it loads, each with its own word: "fp8-block
  /// fp8_per_block".
  std::vector<std::string_view> made_at_start;
  Fp32Checkpoints fp32_checkpoints;
  WithoutBf16 without_bf16;
  /// Values of `model_type` that are computed in fp32 on cards without bf16.
  std::vector<std::string_view> never_fp16;
  std::vector<SchemeFamily> never_split;  ///< formats that are never divided between cards and host
  double whole_share;  ///< share of a card's budget that weights in those formats take at most
  AllocatorBlocks blocks;
  Size vocabulary_multiple;               ///< rows of the vocabulary are padded to a multiple
  std::vector<ExpertTiles> expert_tiles;  ///< empty: experts in MXFP4 are not padded
  bool fuses_at_start;  ///< q, k and v, and a layer's experts, are copied into one matrix at start
  LatentCopies latent_copies;
  bool modules_alone;   ///< bitsandbytes leaves experts that one parameter stacks in 16 bit
  bool unties_fp8;      ///< a tied head of an FP8 checkpoint is a second copy
  bool repacks_on_cpu;  ///< weights on the CPU are held twice: as loaded and as kernels want them
  Towers towers;
  AdapterMemory adapters;
  std::vector<Size> adapter_ranks;  ///< ranks of adapter slots; empty: any
  Size adapter_bytes;               ///< bytes of an element of an adapter
  Constant load_disk_share;         ///< share of a disk's rate that one request after another gets
  Constant load_read_bandwidth;     ///< bytes a second at which pages of files are faulted in
  Constant load_copy_bandwidth;     ///< bytes a second that one process copies from the page cache
  Constant load_tensor_s;           ///< seconds that a process spends on each tensor of the files
  Constant load_fixed_s;            ///< start-up without the weights and the next, seconds
  Constant load_layer_s;   ///< start-up for each layer whose kernels are captured in graphs
  bool reads_ahead;        ///< threads read all files to the end before weights are copied
  Constant load_interval;  ///< 80 % interval as a factor on the expected load time

  /// True if it runs weights of the family.
  bool holds(SchemeFamily family) const;
  /// The engine's word for a scheme that it makes at start; empty: it makes no such.
  std::string_view word_of_made(std::string_view scheme) const;
};

}  // namespace headroom::model
