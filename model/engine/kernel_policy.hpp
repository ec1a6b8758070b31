// Which kernels an engine runs on a card, and how efficient they are.
#pragma once

#include <array>
#include <cstdint>

#include "hardware/units.hpp"
#include "model/engine/card_class.hpp"
#include "model/engine/constant.hpp"

namespace headroom::model {

enum class Launch { overlapped, added };  ///< kernel launches hide behind the GPU's work, or not

/// How packed weights below 16 bit are multiplied when a pass has many tokens.
enum class PackedProducts : std::uint8_t {
  in_registers,         ///< unpacked by the kernel that multiplies them, in 16 bit
  in_memory,            ///< unpacked by a kernel of its own, then multiplied in 16 bit
  in_memory_each_pass,  ///< likewise, also where a pass has a single token
  in_memory_or_bytes,   ///< as in_memory; as bytes on cards without 16-bit matrix units
  bytes,                ///< as bytes, where the card multiplies those fast
};

/// Says if attention scores of a prompt stay within a kernel.
enum class FlashAttention : std::uint8_t {
  always,  ///< they are never in memory
  on,      ///< on by default; an option turns it off
  off,     ///< off by default; an option turns it on
  never,   ///< they are in memory
};

/// Efficiencies of kernels on one class of cards with weights of one width.
struct KernelEfficiency {
  Constant decode_bandwidth;  ///< share of the card's bandwidth at which weights are read
  Constant prefill_compute;   ///< share of the card's dense peak that matrix products reach
  Constant byte_compute;      ///< as above, for packed weights that are multiplied as bytes
  Constant kernel_s;          ///< fixed time of each kernel, seconds:
                              ///< its launch, its start and end, the Python that calls it
  Constant expert_reads;      ///< times that reading a routed expert takes besides its products of
                              ///< a prompt
  Constant unpack_bandwidth;  ///< share of the card's bandwidth at which weights are unpacked into
                              ///< memory: what is read and, in 16 bit, written
};

struct KernelPolicy {
  Launch launch;
  bool graphs;        ///< decode steps are captured as CUDA graphs, prompts launched as they come
  Size graph_tokens;  ///< longer contexts are decoded without graphs; 0: as short ones
  FlashAttention flash;
  Size attention_rows;  ///< queries of one head that a block of a prompt's attention takes, two
                        ///< concurrent blocks on a multiprocessor; 0: all have work to the end
  Size product_tile;    ///< tokens of a prompt are multiplied so many at a time; 0: few
  Size layer_kernels;   ///< launched for a layer in prefill, unpacking left out; 0: chunks of a
                        ///< prompt do not follow each other through a layer split's cards
  bool activations_in_memory;  ///< norms, sums and conversions are kernels of their own
  bool whole_tiles;            ///< matrix units multiply a single token too, by tiles of many rows
  bool matrix_units;           ///< products of many tokens use matrix units, where there are any
  bool half_accumulate;        ///< 16-bit products are summed in 16 bit
  bool sparse_attention;       ///< reads the tokens that an indexer picks, not all
  bool repeats_kv;             ///< K and V are copied for each query head before attention
  bool per_expert_kernels;     ///< the kernels of each expert are called in turn from Python; where
                               ///< Python does not launch kernels, only those of packed experts
  PackedProducts packed_products;
  double dequant_bytes_per_element;  ///< bytes moved for each packed element that operations of
                                     ///< PyTorch unpack for every product; 0: own kernels
  Size gptq_bytes_kernels;           ///< for each product of 8-bit GPTQ, from Python
  std::array<std::array<KernelEfficiency, widths>, card_classes> efficiency;
  Constant moe_kernels_per_layer;  ///< kernels of a layer's routed experts, run together: choice,
                                   ///< sorting, products
  Constant expert_kernels;         ///< kernels of each routed expert if they are called in turn
  Constant
      packed_kernels;    ///< additional kernels of a product of packed weights, in average kernels
  Constant expert_cost;  ///< cost of a byte of routed experts, in bytes of weights that take as
                         ///< long
  Constant eager_kernel_s;  ///< from one kernel to the next without CUDA graphs, at least, seconds
  Constant score_compute;   ///< share of the card's 16-bit peak that a prompt's scores reach
  Constant repeat_bandwidth;    ///< bytes a second of K and V that are copied before attention
  Constant cache_cost;          ///< cost of a byte of caches, in bytes of weights that take as long
  Constant score_traffic;       ///< bytes moved for each attention score that is in memory
  Constant activation_traffic;  ///< bytes moved for each hidden channel of a token and layer
  Constant decode_interval, prefill_interval;  ///< 80 % intervals as factors on expected times
};

}  // namespace headroom::model
