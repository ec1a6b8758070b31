// Throughput of devices, buses and links for one model in one precision under one engine.
#pragma once

#include "model/infer/timeline/all_reduce.hpp"
#include "model/infer/timeline/roofline.hpp"

namespace headroom::model {

/// Seconds of launching one pass: `kernels` for those of its layers, read once for each chunk, then
/// the engine's own for the pass and for each sequence.
Seconds launches(const Scenario& scenario, const Pass& pass, Seconds kernels);
Seconds launches(const Scenario& scenario, const Pass& pass);

/// Efficiency of the engine's kernels with the scenario's weights: on `device`, or on the first
/// card.
const KernelEfficiency& efficiency_on(const Scenario& scenario, const Device& device);
const KernelEfficiency& efficiency_of(const Scenario& scenario);
/// The card's dense peak for products of these weights, as the engine makes them.
FlopsPerSecond product_peak(const Scenario& scenario, const Device& device);
/// Share of that peak that products reach: of 16 bit and others, or of bytes. Weights that are
/// unpacked to 16 bit reach no more than 16 bit does.
const Constant& product_share(const Scenario& scenario, const Device& device,
                              const KernelEfficiency& efficiency);
/// True if packed weights are unpacked into memory before many tokens are multiplied by them.
bool unpacks_into_memory(const Scenario& scenario, const Device& device);
Throughput card_rate(const Scenario& scenario, const Device& device);

/// The place where a pass of `tokens` multiplies by layers in host memory. Needs a card to go
/// there. A chip that shares the host's memory has nothing to copy.
PrefillOffload host_prompts(const Scenario& scenario, double tokens);

/// n sockets reach (1 + (n - 1) * remote_numa_share) / n of their bandwidth and peak. Threads of
/// one reach the memory of another over a slower link, unless an engine keeps a copy of the weights
/// on each. Measured with ktransformers on one and two Xeons (its DeepseekR1_V3_tutorial.md). If
/// there are fewer threads than physical cores, each reads at most thread_bandwidth and computes
/// 1.3 times a core's share. The peak is at the base clock, and few cores run faster (data sheets:
/// i5-13600K 3.5 and 5.1 GHz, EPYC 7763 2.45 and 3.5, Ryzen 9 7950X 4.5 and 5.7 at most). More
/// threads wait for the same units.
Throughput cpu_rate(const Scenario& scenario);

/// Over the bus to the first card. Weights in pageable memory go through a pinned buffer, to which
/// one thread copies them (staging_bandwidth). A card with coherent access reads them itself: 93
/// GiB/s from pageable memory on GH200. Source: CUDA C++ Best Practices Guide, pinned memory;
/// vortex-data/vortex pull 7815.
BytesPerSecond bus_rate(const Scenario& scenario);
/// From disk.
BytesPerSecond disk_rate(const Scenario& scenario);

}  // namespace headroom::model
