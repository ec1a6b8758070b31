// What the engine decides, as rows: the right answer depends on it, not only on the model.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "hardware/units.hpp"
#include "model/quantisation.hpp"

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

enum class Launch { overlapped, added };  ///< kernel launches hide behind the GPU's work, or not

struct Runtime {
  std::string_view name, version;
  std::string_view source;                   ///< of the policies below
  std::span<const SchemeFamily> holds;       ///< weights it can run
  std::span<const SchemeFamily> whole_only;  ///< of them, what is never split over cards and host
  Split split;
  Offload offload;
  Launch launch;
  bool disk;                  ///< can run with weights left on disk
  bool cpu;                   ///< can run without any card
  bool window_capped;         ///< sliding-window layers hold only their window
  bool latent_cache;          ///< MLA holds the latent, not expanded K and V
  bool experts_apart;         ///< experts may be in host memory while their layer is on a card
  bool input_on_cpu;          ///< the token embedding stays in host memory
  bool cache_optional;        ///< can generate without a KV cache
  bool strict_positions;      ///< refuses a context beyond the model's positions
  bool holds_back;            ///< a given part of a card's weights can stay in host memory
  Size vocabulary_multiple;   ///< rows of the vocabulary are padded to a multiple of this
  Size window_slack;          ///< tokens that a capped sliding window holds beside the window
  Size kv_block;              ///< tokens that KV memory is handed out in
  Size state_bytes;           ///< bytes of one element of recurrent state
  Size prefill_chunk;         ///< tokens of a prefill pass at most; 0: the whole prompt at once
  Size logits_bytes;          ///< bytes of one logit as it is sampled from
  double utilization;         ///< share of a card's memory used when no budget is given
  Constant context_bytes;     ///< driver context and libraries on each card
  Constant host_bytes;        ///< the process itself in host memory
  Constant fragmentation;     ///< share of a card's allocations that the allocator holds beside
  Constant decode_bandwidth;  ///< share of the card's bandwidth that decode reaches
  Constant prefill_compute;   ///< share of the card's dense peak that prefill reaches
  Constant stream_bandwidth;  ///< share of the host bus that streamed weights reach
  Constant cpu_bandwidth;     ///< share of RAM bandwidth that layers on the CPU reach
  Constant cpu_compute;       ///< share of the CPU's peak that matrix products on it reach
  Constant disk_bandwidth;    ///< share of the disk's sequential read
  Constant layer_overhead_s;  ///< launches and Python, per layer and pass, seconds
  Constant
      reduce_latency_s;  ///< start of one all-reduce, seconds; two a layer under tensor parallelism
  Constant load_bandwidth;  ///< share of the slowest link on the way from disk to card
  Constant load_fixed_s;    ///< start-up before the first weight, seconds
};

std::span<const Runtime> runtimes();
/// Throws UnknownName with the nearest names.
const Runtime& runtime(std::string_view name);

}  // namespace headroom::model
