// How long it takes from the start of an engine until it is ready to answer, and what the first
// answer still waits for.
#pragma once

#include "model/infer/placement/placement.hpp"

namespace headroom::model {

/// The parts of the load time.
///
///   cold = fixed + layers + read + tensors + copy + bus + pack, warm: `again` in place of `read`
///
/// One thread faults pages in and copies them in turn: reading and copying add up. The kernel's
/// read-ahead fetches mapped files one request after the other, far below the rate of a fast disk
/// with many requests. Once they are in the page cache, the process's own copying is the limit, not
/// the bus. vLLM 0.10 takes 3.16 s for Llama-2-13B both on an L40S (PCIe 4.0) and on an H100 NVL
/// (5.0): upb-cn/vllm-startup-profiler figures 10 and 13.
///
/// Left out: network storage, files in pickle form, checkpoints that are downloaded first.
struct LoadTime {
  Seconds fixed{};    ///< start-up besides the weights
  Seconds layers{};   ///< start-up that grows with the layers: graph_start_seconds
  Seconds read{};     ///< read_seconds of the files; the page cache holds them: nothing
  Seconds again{};    ///< part that repeats on a warm start: all of it if the host's memory does
                      ///< not hold the files, because later files evict earlier ones
  Seconds tensors{};  ///< tensors of the files * seconds of a process for each
  Seconds copy{};     ///< weights copied into memory of the process / its rate; what is left on
                      ///< disk in another type is written there, at the rate of reading
  Seconds bus{};      ///< weights on cards, as the files have them: max(copied / rate, moved / host
                      ///< bus), where tensors that are cut across their rows are copied twice
  Seconds pack{};     ///< quantised on the way: (read + written) / (share * memory bandwidth)
  Seconds mapped{};   ///< time in which the first pass reads weights that were only mapped
  Seconds start() const { return fixed + layers; }  ///< without the weights
  Seconds cold() const { return start() + read + weights(); }
  Seconds warm() const { return start() + again + weights(); }

 private:
  Seconds weights() const { return tensors + copy + bus + pack; }
};

/// Reading mapped files: bytes / (share * disk read) + bytes / the rate at which pages are faulted
/// in. The kernel's read-ahead asks for the next pages once the last ones are there, 128 KiB at a
/// time (Linux mm/readahead.c; more on a RAID). A disk reaches its data sheet's rate with many
/// requests in flight. Rates beyond the time from the page cache are a quarter to half of it:
///
///   GB/s of the disk   29    14    7     4     1     0.55
///   GB/s read          8     5.5   2.3   2.2   0.36  0.23
///
/// Sources: ServerlessLLM h100_2025 and a5000_2024, vllm pull 10647, anyscale/ai-infra-cookbook
/// pull 57, hyper.ai on an EBS volume, llama.cpp pull 1483. Ranks share the disk, so the first part
/// is of all files. The second is of the pages that one rank touches: load_time().
Seconds read_seconds(const Scenario& scenario, RealBytes bytes);

/// Start-up that grows with the layers of a stage. Each is traced, its compiled code is read, and
/// its kernels are captured for every size of a batch. Nothing without CUDA graphs. Starts of vLLM
/// 0.10 with code in its cache take 0.35 s a layer beyond 12 s, from 24 to 48 layers
/// (upb-cn/vllm-startup-profiler figures 11 and 13). A log of vLLM has 9.6 s for tracing and
/// reading the code of 36 layers (kyuz0/amd-strix-halo-vllm-toolboxes pull 5).
Seconds graph_start_seconds(const Scenario& scenario);

/// Bytes of files that an engine has touched when it is ready: all that is not left on disk as it
/// is there.
RealBytes bytes_read(const Scenario& scenario, const Plan& plan);

/// Loading under `plan`. One process with all layers copies them card after card. Ranks that split
/// matrices each copy their own shard over their own bus, from one page cache. The disk is read
/// once, and ranks share the RAM bandwidth (each byte read and written). Every rank goes through
/// all tensors of the files, and cuts its part out of each.
///
/// A part that is a piece of every row is no run of bytes. PyTorch first gathers it in host memory
/// (aten/src/ATen/native/cuda/Copy.cu: copy_requires_temporaries, contiguous). A page fault maps 64
/// KiB of a file, more than most rows (Linux mm/memory.c do_fault_around). So each rank goes
/// through the whole tensor at the rate of copying, before it copies its part.
///
/// Weights that stay in host memory are as OffloadPolicy::host_weights says. Engines that read
/// ahead (WeightPolicy::reads_ahead) read files side by side into buffers, in threads of each rank,
/// also from the page cache. One file of 5 GB is then the longest, the size at which transformers
/// before 5.0 starts another (save_pretrained, max_shard_size).
///
/// Sources: llama.cpp llama-mmap.cpp (MAP_POPULATE); safetensors docs/source/speed.mdx (548 MB
/// "loaded" to the CPU in 4 ms: mapped, not touched); vLLM model_loader/weight_utils.py (every rank
/// opens every file and copies its slice); TensorRT-LLM 1.0 _torch/models/checkpoints/hf/
/// weight_loader.py (prefetch_files). `uses`: of the plan's shards.
LoadTime load_time(const Uses& uses, const Plan& plan);
inline LoadTime load_time(const Scenario& scenario, const Plan& plan) {
  return load_time(Uses(scenario), plan);
}

}  // namespace headroom::model
