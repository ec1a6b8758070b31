// How long it takes from the start of an engine until it is ready to answer, and what the first
// answer still waits for.
#pragma once

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// The parts of the load time.
///
///   cold = fixed + read + copy + bus + pack,  warm = fixed + again + copy + bus + pack
///
/// One thread faults pages in and copies them in turn: reading and copying add up. The kernel's
/// read-ahead fetches mapped files one request after the other, far below the rate of a fast disk
/// with many requests. Once they are in the page cache, the process's own copying is the limit, not
/// the bus. vLLM 0.10 takes 3.16 s for Llama-2-13B both on an L40S (PCIe 4.0) and on an H100 NVL
/// (5.0): upb-cn/vllm-startup-profiler figures 10 and 13.
///
/// Left out: network storage, files in pickle form, checkpoints that are downloaded first, what
/// each of many small tensors costs.
struct LoadTime {
  Seconds fixed{};   ///< start-up besides the weights
  Seconds read{};    ///< read_seconds of the files; the page cache holds them: nothing
  Seconds again{};   ///< part that repeats if the host's memory does not hold the files: later
                     ///< files evict earlier ones
  Seconds copy{};    ///< weights copied into memory of the process / its rate; what is left on
                     ///< disk in another type is written there, at the rate of reading
  Seconds bus{};     ///< weights on cards, as the files have them / min(rate, host bus)
  Seconds pack{};    ///< quantised on the way: (read + written) / (share * memory bandwidth)
  Seconds mapped{};  ///< time in which the first pass reads weights that were only mapped
  Seconds cold() const { return fixed + read + copy + bus + pack; }
  Seconds warm() const { return fixed + again + copy + bus + pack; }
};

/// Reading mapped files: bytes / disk read + bytes / the rate at which pages are faulted in. The
/// kernel's read-ahead asks for the next pages once the last ones are there. The fixed time of each
/// request therefore counts in full: half the rate of a fast disk, nearly all of a slow one.
Seconds read_seconds(const Scenario& scenario, RealBytes bytes);

/// Bytes of files that an engine has touched when it is ready: all that is not left on disk as it
/// is there.
RealBytes bytes_read(const Scenario& scenario, const Plan& plan);

/// Loading under `plan`. One process with all layers copies them card after card. Ranks that split
/// matrices each copy their own shard over their own bus, from one page cache. The disk is read
/// once, and ranks share the RAM bandwidth (each byte read and written). Weights that stay in host
/// memory are as OffloadPolicy::host_weights says. Sources: llama.cpp llama-mmap.cpp
/// (MAP_POPULATE); safetensors docs/source/speed.mdx (548 MB "loaded" to the CPU in 4 ms: mapped,
/// not touched); vLLM model_loader/weight_utils.py (every rank opens every file and copies its
/// slice). `uses`: of the plan's shards.
LoadTime load_time(const Uses& uses, const Plan& plan);
inline LoadTime load_time(const Scenario& scenario, const Plan& plan) {
  return load_time(Uses(scenario), plan);
}

}  // namespace headroom::model
