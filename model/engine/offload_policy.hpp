// Handling of weights that are not on a card.
#pragma once

#include "hardware/units.hpp"
#include "model/engine/constant.hpp"

namespace headroom::model {

enum class Offload {
  none,
  stream,  ///< weights are streamed to the card on each pass
  compute  ///< layers are computed on the CPU
};

/// How weights that stay in host memory are loaded.
enum class HostWeights {
  copied,   ///< into memory of the process
  fetched,  ///< the file is mapped and all of it read at the start
  mapped    ///< the file is mapped, and read by the first pass that needs it
};

/// The place where prefill multiplies the matrices of offloaded layers.
enum class PrefillOffload {
  on_cpu,   ///< on the CPU
  on_card,  ///< on the first card, to which they are copied, however long that takes
  faster,   ///< whichever is faster; several cards share the work
};

struct OffloadPolicy {
  Offload mode;
  bool disk;          ///< can run with weights left on disk
  bool cpu;           ///< can run without any card
  bool input_on_cpu;  ///< the token embedding stays in host memory
  bool output_first;  ///< the output goes to a card first; else it follows all layers
  /// Tables in layers, of which a token looks up a few rows, stay in host memory. One copy is
  /// shared by all cards.
  bool tables_on_host;
  bool supports_cpu_offload;       ///< a given part of a card's weights can stay in host memory
  bool offloads_experts;           ///< experts may be in host memory while their layer is on a card
  bool experts_on_cpu_by_default;  ///< routed experts are in host memory, all else on cards
  HostWeights host_weights;
  PrefillOffload prefill;
  Size prefill_tokens;        ///< passes of fewer tokens stay on the CPU in any case
  bool prefetches;            ///< weights are streamed while the layer before is computed
  bool batch_in_parts;        ///< sequences may go through each layer in parts, one after the other
  bool dots_on_cpu;           ///< the CPU multiplies formats without tiles row by row
  Constant stream_bandwidth;  ///< share of the host bus that streamed weights reach
  Constant staging_bandwidth;    ///< bytes a second that one thread copies to a pinned buffer, from
                                 ///< which the bus takes them; 0: weights are in pinned memory
  Constant cpu_bandwidth;        ///< share of RAM bandwidth that layers on the CPU reach
  Constant cpu_compute;          ///< share of the CPU's peak that matrix products on it reach
  Constant thread_bandwidth;     ///< bytes a second that one thread of the CPU reads at most
  Constant device_handoff_s;     ///< time of a handoff between devices in a pass, seconds
  Constant remote_numa_share;    ///< gain of a further socket, as a share of the first one
  Constant disk_bandwidth;       ///< share of the disk's sequential read
  Constant interval;             ///< 80 % interval as a factor on the time of offloaded passes
  Constant ram_stated_interval;  ///< as above if the host's memory is known; 0: as `interval`
};

}  // namespace headroom::model
