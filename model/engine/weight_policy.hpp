// Which weights an engine runs, how they lie in memory and how they are loaded.
#pragma once

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

struct WeightPolicy {
  std::vector<SchemeFamily> formats;      ///< formats of weights that it runs
  std::vector<SchemeFamily> never_split;  ///< formats that are never divided between cards and host
  AllocatorBlocks blocks;
  Size vocabulary_multiple;               ///< rows of the vocabulary are padded to a multiple
  std::vector<ExpertTiles> expert_tiles;  ///< empty: experts in MXFP4 are not padded
  bool fuses_at_start;   ///< q, k and v, and a layer's experts, are copied into one matrix at start
  bool unties_fp8;       ///< a tied head of an FP8 checkpoint is a second copy
  bool repacks_on_cpu;   ///< weights on the CPU are held twice: as loaded and as kernels want them
  bool towers_optional;  ///< an option leaves towers of images and sound out
  AdapterMemory adapters;
  std::vector<Size> adapter_ranks;  ///< ranks of adapter slots; empty: any
  Size adapter_bytes;               ///< bytes of an element of an adapter
  Constant load_read_bandwidth;     ///< bytes a second at which pages of files are faulted in
  Constant load_copy_bandwidth;     ///< bytes a second that one process copies from the page cache
  Constant load_fixed_s;            ///< start-up without the weights, seconds
  Constant load_interval;           ///< 80 % interval as a factor on the expected load time
};

}  // namespace headroom::model
