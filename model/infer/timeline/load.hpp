// How long it takes from the start of an engine until it is ready to answer, and what the first
// answer still waits for.
#pragma once

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// Where the time of loading goes.
///
///   cold = fixed + read + copy + bus + pack,  warm = fixed + again + copy + bus + pack
///
/// One thread faults pages in and copies them in turn: reading and copying add up. Mapped files
/// come in by the kernel's read-ahead, one request after the other, far below what a fast disk
/// gives to many at once; once they are in the page cache the process's own copying decides, not
/// the bus: vLLM 0.10 takes the same 3.16 s for Llama-2-13B on an L40S (PCIe 4.0) and on an H100
/// NVL (5.0), upb-cn/vllm-startup-profiler figures 10 and 13.
///
/// Left out: network storage, files in pickle form, checkpoints that are downloaded first, what
/// each of many small tensors costs.
struct LoadTime {
  Seconds fixed{};   ///< start-up beside the weights
  Seconds read{};    ///< read_seconds of the files; the page cache holds them: nothing
  Seconds again{};   ///< of it, where the host's memory does not hold the files: read one after
                     ///< the other, what comes later drives out what came before
  Seconds copy{};    ///< weights copied into memory of the process / its rate; what is left on
                     ///< disk in another type is written there, at the rate of reading
  Seconds bus{};     ///< weights on cards, as the files have them / min(rate, host bus)
  Seconds pack{};    ///< quantised on the way: (read + written) / (share * memory bandwidth)
  Seconds mapped{};  ///< of what was only mapped, the time that the first pass reads it in
  Seconds cold() const { return fixed + read + copy + bus + pack; }
  Seconds warm() const { return fixed + again + copy + bus + pack; }
};

/// Reading mapped files: bytes / disk read + bytes / the rate at which pages are faulted in. The
/// kernel's read-ahead asks for the next pages once the last are there, so that what each request
/// takes beside its bytes counts in full: half of a fast disk, nearly all of a slow one.
Seconds read_seconds(const Scenario& scenario, RealBytes bytes);

/// Bytes of files that an engine has touched when it is ready: all that is not left on disk as it
/// is there.
RealBytes bytes_read(const Scenario& scenario, const Plan& plan);

/// Loading under `plan`. One process with all layers copies them card after card; ranks that split
/// matrices each take their own shard over a bus of their own, all from one page cache, so that the
/// disk is read once and RAM bandwidth (each byte read and written) is shared. Weights that stay in
/// host memory are as Runtime::host_weights says. Sources: llama.cpp llama-mmap.cpp (MAP_POPULATE);
/// safetensors docs/source/speed.mdx (548 MB "loaded" to the CPU in 4 ms: mapped, not touched);
/// vLLM model_loader/weight_utils.py (every rank opens every file and copies its slice). `uses`: of
/// the plan's shards.
LoadTime load_time(const Uses& uses, const Plan& plan);
inline LoadTime load_time(const Scenario& scenario, const Plan& plan) {
  return load_time(Uses(scenario, plan.shards), plan);
}

}  // namespace headroom::model
