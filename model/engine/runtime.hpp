// What the engine decides, as rows: the right answer depends on it, not only on the model.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "hardware/device.hpp"
#include "hardware/precision.hpp"
#include "hardware/units.hpp"
#include "model/checkpoint/quantisation/quantisation.hpp"

namespace headroom::model {

/// A physical constant of a runtime, with its interval and its evidence.
struct Constant {
  double value, low, high;  ///< expected value and 80 % interval
  int measurements;         ///< 0: unmeasured, printed as such
  std::string_view source;
};

enum class Split { layers, tensors };  ///< how several cards share a model
enum class Offload {
  none,
  stream,
  compute
};  ///< none; weights streamed to the card on each pass; layers computed on the CPU

/// What loading does with weights that stay in host memory.
enum class HostWeights {
  copied,   ///< into memory of the process
  fetched,  ///< the file is mapped and all of it read at the start
  mapped    ///< the file is mapped, and read by the first pass that needs it
};

/// Where matrices of host layers are multiplied when a pass has many tokens.
enum class HostPrompts {
  stay,     ///< on the CPU
  copied,   ///< on the first card, to which they are copied for it, however long that takes
  quicker,  ///< the one or the other, each of several cards getting its share
};

enum class Launch { overlapped, added };  ///< kernel launches hide behind the GPU's work, or not

/// How the key-value cache gets its memory.
enum class Growth {
  reserved,  ///< all of it before the first token
  by_layer,  ///< each layer's is copied into a larger one, the old one freed at once
  whole,     ///< the same, and the old ones of all layers are freed only after the pass
};
/// How long a context the caches of layers with sliding windows hold.
enum class Windows {
  whole,   ///< all of it
  capped,  ///< each layer its window
  pages,   ///< the same, layers of all kinds from one pool of pages
           ///< (model/infer/memory/kv_cache.hpp)
};
/// How weights lie in memory.
enum class Blocks {
  exact,  ///< one after the other
  apart,  ///< each tensor of the checkpoint in blocks of PyTorch's allocator
  fused,  ///< the same, q, k and v, gate and up, and the experts of a layer being one tensor
};
/// Cosines and sines of every position, in 16 bit.
enum class Rotary {
  computed,  ///< where they are needed
  shared,    ///< one table of half the head's width each, for all layers
  each,      ///< a table of the whole width each in every layer
};
/// How low-rank adapters are held beside a model at inference.
enum class AdapterMemory {
  unknown,  ///< not described
  loaded,   ///< each as its file has it, beside the matrices that it adapts
  slots,    ///< a given number of slots of one rank beside every linear layer, set aside at start
};
enum class Positions { last, all };  ///< whose logits a prefill pass makes

/// When an engine under load starts the next request.
enum class Admission {
  slots,      ///< a slot for a whole context is free
  whole,      ///< the cache has room for all of its prompt and output
  as_needed,  ///< the cache has room for its prompt: blocks follow as tokens come
};

/// Over which cards an engine spreads whole experts when told to.
enum class ExpertSpread {
  none,  ///< it divides each expert, or has its layers card by card
  all,   ///< all that share a stage, replicas included, which share the experts in any case
  some,  ///< a divisor of the tensor-parallel cards, equal parts of each expert on the others;
         ///< the divisor divides the experts too; replicas have experts of their own
};

/// A format in which an engine keeps keys and values.
struct CacheFormat {
  std::string_view precision;  ///< hardware/precision.hpp
  std::string_view word{};     ///< what the engine calls it; empty: as the weights are computed
};

/// How weights that are packed below 16 bit meet many tokens at once.
enum class PackedProducts : std::uint8_t {
  in_registers,        ///< unpacked by the kernel that multiplies them, in 16 bit
  in_memory,           ///< unpacked by a kernel of its own, then multiplied in 16 bit
  in_memory_or_bytes,  ///< the same; as bytes on cards without 16-bit matrix units
  bytes,               ///< as bytes, where the card multiplies those fast
};

/// Cards whose memory and compute kernels reach alike.
/// hopper: hbm of compute capability 9 and later, whose hosts are younger too.
/// radeon: AMD's with GDDR or the host's memory.
enum class CardClass : std::uint8_t { hbm, hopper, gddr, radeon, apple, other };
inline constexpr std::size_t card_classes = 6;
/// NVIDIA's dies for data centres (compute capability x.0 before 12, and 10.3) have stacked memory;
/// its other cards GDDR. Source: NVIDIA, CUDA GPU compute capability tables. AMD's stacked memory
/// has 1 TB/s and more, none of its GDDR as much (data sheets of Radeon VII, Instinct, RX and PRO).
CardClass card_class(const Device& device);

/// Whether attention scores of a prompt stay within a kernel, and may be told to stand in memory.
enum class FlashAttention : std::uint8_t {
  always,  ///< they never stand in memory
  on,      ///< neither, unless told otherwise
  off,     ///< they do, unless told otherwise
  never,   ///< they do
};

/// What an engine's kernels are written for.
enum class Backend : std::uint8_t {
  own,     ///< the maker's own: CUDA, ROCm, SYCL, Metal
  vulkan,  ///< shaders for cards of every maker
};

/// Weights that kernels read alike, by the bits of an element of the layers.
enum class Width : std::uint8_t { sixteen, fp8, eight, four, fp4 };
inline constexpr std::size_t widths = 5;
/// Of the layers, as held.
double bytes_per_parameter(const QuantisedModel& weights);
/// fp8 and fp4: checkpoints of those formats; else by the mean: from 12 bits, from 6.5 bits, below.
Width width_of(const QuantisedModel& weights);

/// What kernels of one engine reach on one class of cards with weights of one width.
struct Rates {
  Constant decode_bandwidth;  ///< share of the card's bandwidth at which weights are read
  Constant prefill_compute;   ///< share of the card's dense peak that matrix products reach
  Constant byte_compute;      ///< the same of packed weights that are multiplied as bytes
  Constant kernel_s;          ///< of each kernel beside what it reads and multiplies, seconds:
                              ///< its launch, its start and end, the Python that calls it
  Constant expert_reads;      ///< times that reading a routed expert takes beside its products of
                              ///< a prompt
  Constant unpack_bandwidth;  ///< share of the card's bandwidth at which weights are unpacked into
                              ///< memory: what is read and, in 16 bit, written
};

/// The pass that an engine makes at start to see what it has to keep free, whatever is asked of it
/// later: so many tokens, then sampling for so many sequences.
struct StartPass {
  Size sequences = 0;                                ///< 0: there is no such pass
  Size tokens = 0;                                   ///< 0: one whole context
  Size sequences_on_large = 0, tokens_on_large = 0;  ///< the same where a card has 70 GiB or more
  Size least_tokens = 0;
  Size sampling_bytes = 0;  ///< of one logit with its copies while tokens are drawn
};

/// What kernels for routed experts in MXFP4 want on NVIDIA's cards from one compute capability on
/// to before another.
struct ExpertTiles {
  double from, before;
  Size inner_multiple, hidden_multiple;  ///< a card's part of the inner width; the hidden width
  bool scales_twice;                     ///< as loaded, and as the kernels want them
};

struct Engine {
  std::string_view name, version;
  std::string_view family;  ///< the row whose constants this one shares: versions of one engine
  Backend backend;
  std::string_view with_vulkan;  ///< the row of the same engine built for it; empty: none
  std::string_view source;       ///< of the policies below
  std::span<const std::string_view> vendors;  ///< makers of cards that it runs on
  std::span<const SchemeFamily> holds;        ///< weights it can run
  /// Classes of encoder-decoders that it runs; nothing: any.
  std::optional<std::span<const std::string_view>> encoder_decoders;
  std::span<const SchemeFamily> whole_only;  ///< of them, what is never split over cards and host
  std::span<const CacheFormat> caches;       ///< formats of keys and values
  std::string_view caches_source;
  Split split;
  Offload offload;
  Launch launch;
  Admission admission;
  ExpertSpread expert_spread;
  HostWeights host_weights;
  HostPrompts host_prompts;
  Size host_prompt_tokens;   ///< passes of fewer tokens stay on the CPU in any case
  bool disk;                 ///< can run with weights left on disk
  bool cpu;                  ///< can run without any card
  Windows windows;           ///< how many tokens sliding-window layers hold
  bool latent_cache;         ///< MLA holds the latent, not expanded K and V
  bool latent_values;        ///< … and the values among it a second time
  bool repeated_heads;       ///< holds K and V for each query head where transformers does
  bool sparse_attention;     ///< reads the tokens that an indexer picks, not all
  bool experts_apart;        ///< experts may be in host memory while their layer is on a card
  bool input_on_cpu;         ///< the token embedding stays in host memory
  bool cache_optional;       ///< can generate without a KV cache
  Rotary rotary;             ///< what is held of the cosines and sines of positions
  Blocks blocks;             ///< how weights lie in memory
  bool strict_positions;     ///< refuses a context beyond the model's positions
  bool continuous_batching;  ///< a request that ends is followed by the next at once
  bool prompts_apart;        ///< prompts go through passes of their own, not through decode steps
  bool holds_back;           ///< a given part of a card's weights can stay in host memory
  bool repeats_to_attend;    ///< K and V are copied for each query head before attention
  bool unties_fp8;           ///< a tied head of an FP8 checkpoint stands beside the embedding
  bool repacks_on_cpu;       ///< weights on the CPU stand there twice: as loaded, as kernels want
  bool experts_looped;       ///< Python calls the kernels of each expert in turn; where kernels are
                             ///< not launched from Python, so are those of packed experts alone
  bool whole_tiles;          ///< matrix units multiply a single token too, by tiles of many rows
  bool experts_stay;         ///< routed experts are in host memory, all else on cards, unless told
  Size vocabulary_multiple;  ///< rows of the vocabulary are padded to a multiple of this
  std::span<const ExpertTiles> expert_tiles;  ///< empty: experts in MXFP4 are not padded
  Size window_slack;        ///< tokens that a capped sliding window holds beside the window
  Size kv_block;            ///< tokens that KV memory is handed out in
  Growth cache_growth;      ///< how caches come to their size
  Size state_bytes;         ///< bytes of one element of recurrent state
  Size prefill_chunk;       ///< tokens of a prefill pass at most; 0: the whole prompt at once
  Size long_prefill_chunk;  ///< the same of contexts beyond 32768 tokens; 0: as others
  Size attention_rows;      ///< queries of one head that a block of a prompt's attention takes, two
                            ///< blocks at once on a multiprocessor; 0: all have work to the end
  Size product_tile;        ///< tokens of a prompt are multiplied so many at a time; 0: few
  Size activation_bytes;    ///< bytes of an activation; 0: as many as the arithmetic has
  double residual_copies;   ///< hidden states of every token that stand at once
  double widest_share;      ///< of gate, up and their product, what stands at once
  Positions logits;         ///< whose logits a prefill pass makes
  Size logits_bytes;        ///< bytes of one logit with its copies
  Size returned_bytes;      ///< of them, what is copied to the first card, where the input came
  StartPass start_pass;     ///< decides what is kept free, in place of the prompts asked for
  bool fuses_at_start;      ///< q, k and v, and a layer's experts, are copied into one matrix
  FlashAttention flash;
  Size score_bytes;    ///< bytes of one attention score with its copies, where it is in memory
  Size layer_kernels;  ///< launched for a layer in prefill, unpacking left out; 0: chunks of a
                       ///< prompt do not follow each other through a layer split's cards
  bool activations_in_memory;  ///< norms, sums and conversions are kernels of their own
  bool graphs;        ///< decode steps are captured as CUDA graphs, prompts launched as they come
  Size graph_tokens;  ///< longer contexts are decoded without graphs; 0: as short ones
  PackedProducts packed_products;
  double unpack_moves;  ///< bytes moved for each packed element that operations of PyTorch
                        ///< unpack for every product; 0: kernels of the engine's own
  bool prefetches;      ///< what is streamed is copied behind the products of the layer before
  bool batch_in_parts;  ///< sequences may go through each layer in parts, one after the other
  bool divides_layers;  ///< cards divide each layer's matrices as with Split::tensors; what they
                        ///< hold is counted as layers of their own: as much but for latent
                        ///< caches, of which each holds the whole
  Size gptq_bytes_kernels;              ///< beside each product of GPTQ's 8 bits, from Python
  bool dots_on_cpu;                     ///< there formats without tiles meet tokens row by row
  bool half_accumulate;                 ///< 16-bit products are summed in 16 bit
  bool matrix_units;                    ///< products of many tokens are made by them, where any are
  AdapterMemory adapters;               ///< how low-rank adapters are held
  std::span<const Size> adapter_ranks;  ///< of slots; empty: any
  Size adapter_bytes;                   ///< of an element of an adapter
  Size draft_vocabulary;   ///< most rows by which a draft model's vocabulary may differ; below 0:
                           ///< decoding with a draft model is not described
  double utilization;      ///< share of a card's memory used when no budget is given
  Constant context_bytes;  ///< driver context and libraries on each card
  Constant communication_bytes;  ///< on each of several cards that divide matrices over links
  Constant workspace_bytes;      ///< buffers of matrix libraries in the allocator's count
  Constant host_bytes;           ///< the process itself in host memory
  Constant fragmentation;        ///< share of a card's allocations that the allocator holds beside
  std::array<std::array<Rates, widths>, card_classes> rates;
  Constant
      mixture_kernels;  ///< of a layer's routed experts, run together: choice, sorting, products
  Constant expert_kernels;  ///< of each routed expert where they are looped over
  Constant
      packed_kernels;    ///< of each kernel beside a product of packed weights, by an average one
  Constant step_s;       ///< of each pass: schedule, inputs, sampling, seconds
  Constant sequence_s;   ///< of each sequence in a pass: schedule, detokeniser, stream, seconds
  Constant expert_cost;  ///< of a byte of routed experts, in bytes of weights that take as long
  Constant eager_kernel_s;  ///< from one kernel to the next without CUDA graphs, at least, seconds
  Constant score_compute;   ///< share of the card's 16-bit peak that a prompt's scores reach
  Constant repeat_bandwidth;    ///< bytes a second of K and V that are copied before attention
  Constant cache_cost;          ///< of a byte of caches, in bytes of weights that take as long
  Constant score_traffic;       ///< bytes moved for each attention score that stands in memory
  Constant activation_traffic;  ///< bytes moved for each hidden channel of a token and layer
  Constant stream_bandwidth;    ///< share of the host bus that streamed weights reach
  Constant cpu_bandwidth;       ///< share of RAM bandwidth that layers on the CPU reach
  Constant cpu_compute;         ///< share of the CPU's peak that matrix products on it reach
  Constant thread_bandwidth;    ///< bytes a second that one thread of the CPU reads at most
  Constant crossing_s;          ///< of a pass that goes on from one device to another, seconds
  Constant far_bandwidth;       ///< what a further socket adds, as a share of the first one
  Constant disk_bandwidth;      ///< share of the disk's sequential read
  Constant
      reduce_latency_s;  ///< start of one all-reduce, seconds; two a layer under tensor parallelism
  Constant link_bandwidth;     ///< share of the link between cards that what they exchange reaches
  Constant reduce_over_bus_s;  ///< the same between cards that meet over the host's bus
  Constant queue;              ///< share of the other prompts that a request waits for
  Constant request_s;  ///< of a request to a server: front end, tokeniser, schedule, seconds
  Constant load_read_bandwidth;  ///< bytes a second at which pages of files are faulted in
  Constant load_copy_bandwidth;  ///< bytes a second that one process copies from the page cache
  Constant load_fixed_s;         ///< start-up beside the weights, seconds
  // 80 % intervals as factors on expected values, from the residuals of measured rows.
  Constant memory_interval, decode_interval, prefill_interval, offload_interval, load_interval;
  Constant ram_stated_interval;  ///< offload_interval where the host's memory is known
  Constant serving_interval, first_token_interval, throughput_interval;  ///< under load

  /// Its own format for `precision`; nullptr: the engine has none.
  const CacheFormat* cache_format(const Precision& precision) const;

  const Rates& rates_on(const Device& device, const QuantisedModel& weights) const {
    return rates[static_cast<std::size_t>(card_class(device))]
                [static_cast<std::size_t>(width_of(weights))];
  }
};

std::span<const Engine> engines();
/// Throws UnknownName with the nearest names.
const Engine& engine(std::string_view name);

}  // namespace headroom::model
