#include "model/infer/timeline/throughput.hpp"

#include <algorithm>
#include <cstdlib>

#include "model/infer/memory/cache_format.hpp"

namespace headroom::model {
namespace {

/// How weights below 16 bit are multiplied on `device`. From compute capability 7.5 on, matrix
/// units multiply bytes fast. So does 6.1, four pairs in the lane of one fp32 product (CUDA C++
/// programming guide: __dp4a), though it has no fast 16-bit products. Metal has none of bytes.
PackedProducts products_on(const Scenario& s, const Device& device) {
  const PackedProducts chosen = s.runtime->kernels.packed_products;
  if (chosen != PackedProducts::bytes && chosen != PackedProducts::in_memory_or_bytes)
    return chosen;
  const auto& capability = device.compute_capability;
  if (device.vendor == "apple") return PackedProducts::in_registers;
  if (device.vendor != "nvidia" || capability == ComputeCapability{6, 1})
    return PackedProducts::bytes;
  if (capability == ComputeCapability{6, 0} || capability == ComputeCapability{7, 0})
    return PackedProducts::in_memory;
  return chosen == PackedProducts::bytes ? chosen : PackedProducts::in_memory;
}

/// True if an engine's kernels unpack weights. One that unpacks them for each pass does so with
/// every format below 16 bit.
bool is_packed(const Scenario& s) {
  if (s.runtime->kernels.packed_products == PackedProducts::in_memory_each_pass)
    return width_of(*s.weights) != Width::sixteen;
  const Arithmetic arithmetic = s.weights->arithmetic;
  return arithmetic == Arithmetic::dequantised || arithmetic == Arithmetic::fp4;
}

bool multiplies_bytes(const Scenario& s, const Device& device) {
  return is_packed(s) && products_on(s, device) == PackedProducts::bytes;
}

/// True if matrix units sum products of fp16 in fp16: compute capability 7.0 and later.
bool has_fast_halves(const Device& device) {
  return device.compute_capability >= ComputeCapability{7, 0};
}

/// Rate of a card's tensor instructions where it only emulates them, by its fp32 rate. fp16:
/// PyTorch's products reach 0.39 TFLOP/s on a GTX 1650 Ti with 3.0, 0.61 on a 1660 Ti with 5.4, 0.5
/// on a 1660 Super with 5.0 (zzc0721/torch-performance-test-data issues 73 and 89, pytorch issue
/// 121957). int8: llama.cpp's matrix kernels, one source (pull request 15360).
FlopsPerSecond emulated_peak(FlopsPerSecond fp32, Arithmetic arithmetic) {
  return fp32 / (arithmetic == Arithmetic::int8 ? 2.0 : 8.0);
}

/// Dense peak of the products as the engine computes them. If 16 bit is slower than the type it is
/// converted to, the peak of that type counts. Cards that accumulate fp16 in 16 bit do so at four
/// times their fp32 rate; GeForce lists half of that, which is with fp32 sums (NVIDIA Ampere and
/// Ada architecture white papers, appendix). bf16 sums are in fp32. Engines that do not use matrix
/// units multiply on shader cores at their fp32 rate. For other makers, the 16-bit rate in the row
/// is that of shader cores.
FlopsPerSecond peak(const Scenario& s, const Device& device, Arithmetic arithmetic) {
  FlopsPerSecond rate = device.peak(arithmetic);
  const bool sixteen = arithmetic == Arithmetic::fp16 || arithmetic == Arithmetic::bf16 ||
                       arithmetic == Arithmetic::dequantised;
  if (arithmetic == Arithmetic::int8 && device.fp32 &&
      device.compute_capability == ComputeCapability{6, 1})
    rate = std::max(rate, 4 * *device.fp32);
  if (sixteen && device.fp32) rate = std::max(rate, *device.fp32);
  if (!s.runtime->kernels.matrix_units && device.vendor == "nvidia" && device.fp32)
    return *device.fp32;
  // Vulkan's drivers offer no matrix units there, and shaders do without.
  const bool emulates = !device.tensor_cores && s.runtime->backend == Backend::own;
  if (emulates && device.fp32 && arithmetic != Arithmetic::fp32 && arithmetic != Arithmetic::bf16)
    return emulated_peak(*device.fp32, arithmetic);
  const bool halves = arithmetic != Arithmetic::bf16 && has_fast_halves(device);
  const CardClass of = card_class(device);
  if (s.runtime->kernels.half_accumulate && halves && sixteen && device.fp32 &&
      (of == CardClass::gddr || of == CardClass::ada))
    rate = std::max(rate, 4 * *device.fp32);
  return rate;
}

}  // namespace

FlopsPerSecond product_peak(const Scenario& s, const Device& device) {
  if (multiplies_bytes(s, device)) return peak(s, device, Arithmetic::int8);
  // LLM.int8 takes as long as 16 bit or longer: outliers are multiplied apart, products of bytes
  // scaled and added to those (Dettmers et al., arXiv:2208.07339, appendix D).
  const bool outliers = s.weights->scheme->family == SchemeFamily::bitsandbytes;
  return peak(
      s, device,
      unpacks_into_memory(s, device) || outliers ? Arithmetic::dequantised : s.weights->arithmetic);
}

namespace {

/// Bytes moved for each packed byte: it is read, and its elements are written in 16 bit. For
/// PyTorch's operations it is their own traffic. If a single token meets the weights, its products
/// take as long as reading these elements again.
double unpacking_moves(const Scenario& s, double bytes) {
  const KernelPolicy& kernels = s.runtime->kernels;
  if (kernels.dequant_bytes_per_element > 0) return kernels.dequant_bytes_per_element / bytes;
  const bool each_pass = kernels.packed_products == PackedProducts::in_memory_each_pass;
  return 1 + (each_pass ? 2 : 1) * 2 / bytes;
}

/// Seconds to unpack one packed byte.
SecondsPerByte unpack_seconds(const Scenario& s, const Device& device,
                              const KernelEfficiency& rates, double bytes) {
  return RealBytes(unpacking_moves(s, bytes)) / (rates.unpack_bandwidth.value * device.bandwidth) /
         RealBytes(1);
}

/// Bandwidth at which `device` can multiply the data that it reads. Matrix units process whole
/// tiles of `rows` even for few tokens. A card with few of them for its memory (H20) falls behind.
BytesPerSecond tiled_bandwidth(const Scenario& s, const Device& device, double rows) {
  const BytesPerSecond bandwidth = device.bandwidth;
  if (!s.runtime->kernels.whole_tiles || device.compute_capability != ComputeCapability{9, 0})
    return bandwidth;
  const RealBytes weight(bytes_per_layer_parameter(*s.weights));
  return std::min(bandwidth, weight * product_peak(s, device) / Flops(2 * rows));
}

/// Operations in fp32 that shader cores could do while they unpack a weight of ggml's super-blocks
/// for single tokens; 0: it does not hold up reading. Apple's take some twenty for masks, shifts
/// and scales of 6 bits (ggml-metal.metal: kernel_mul_mv_q4_K_f32). With 2 and 3 bits, each four
/// weights have a scale to multiply and to convert (ggml-cuda vecdotq.cuh:
/// vec_dot_q2_K_q8_1_impl_mmvq). NVIDIA's cards before Volta do this in the fp32 lanes (Volta
/// architecture white paper: separate integer lanes from then on). Llama-7B takes 30.0 and 32.5 ms
/// a token with them on a P40, 18.6 in Q4_K_S (llama.cpp pull request 4766).
double unpacking_operations(const Scenario& s, const Device& device) {
  constexpr double of_six_bits = 20, of_few_weights = 40;
  const Scheme& scheme = *s.weights->scheme;
  if (width_of(*s.weights) != Width::four) return 0;
  if (device.vendor == "apple")
    return scheme.mix.find("_K") != std::string_view::npos ? of_six_bits : 0;
  constexpr ComputeCapability volta{7, 0};
  const bool few_weights = scheme.format == "q2_K" || scheme.format == "q3_K";
  const bool before_volta = device.compute_capability && *device.compute_capability < volta;
  return few_weights && before_volta ? of_few_weights : 0;
}

/// The rows are 64 on compute capability 9, 16 where packed weights are unpacked on the way (PTX
/// ISA: wgmma.mma_async m64nNk16, mma.m16n8k16).
BytesPerSecond bandwidth_of(const Scenario& s, const Device& device) {
  const double operations = unpacking_operations(s, device);
  if (operations > 0 && device.fp32)
    return std::min(device.bandwidth, RealBytes(bytes_per_layer_parameter(*s.weights)) *
                                          *device.fp32 / Flops(operations));
  return tiled_bandwidth(s, device, s.weights->arithmetic == Arithmetic::dequantised ? 16 : 64);
}

/// Bytes of other weights that take as long as one of routed experts. Those in 16 bit have tiles of
/// 16 rows where tokens are few (vLLM 0.8 and SGLang 0.4 fused_moe.py: get_default_config).
double expert_weight(const Scenario& s) {
  const double cost = s.runtime->kernels.expert_cost.value;
  if (s.machine->devices.empty() || width_of(*s.weights) != Width::sixteen) return cost;
  const Device& device = s.machine->devices.front();
  return cost / (tiled_bandwidth(s, device, 16) / bandwidth_of(s, device));
}

}  // namespace

Seconds launches(const Scenario& s, const Pass& pass, Seconds kernels) {
  const Engine& r = *s.runtime;
  return pass.weight_reads * (kernels + Seconds(r.serving.step_s.value)) +
         pass.logit_rows * Seconds(r.serving.sequence_s.value);
}
Seconds launches(const Scenario& s, const Pass& pass) {
  return launches(s, pass, Seconds(kernels(s, pass.layers) * efficiency_of(s).kernel_s.value));
}

const KernelEfficiency& efficiency_on(const Scenario& s, const Device& device) {
  return s.runtime->efficiency_on(device, *s.weights);
}
const KernelEfficiency& efficiency_of(const Scenario& s) {
  if (!s.machine->devices.empty()) return efficiency_on(s, s.machine->devices.front());
  return s.runtime->kernels.efficiency[static_cast<std::size_t>(CardClass::other)]
                                      [static_cast<std::size_t>(width_of(*s.weights))];
}

const Constant& product_share(const Scenario& s, const Device& device,
                              const KernelEfficiency& rates) {
  if (multiplies_bytes(s, device)) return rates.byte_compute;
  if (s.weights->arithmetic != Arithmetic::dequantised) return rates.prefill_compute;
  const Constant& sixteen = s.runtime->kernels
                                .efficiency[static_cast<std::size_t>(card_class(device))]
                                           [static_cast<std::size_t>(Width::sixteen)]
                                .prefill_compute;
  return sixteen.value < rates.prefill_compute.value ? sixteen : rates.prefill_compute;
}

bool unpacks_into_memory(const Scenario& s, const Device& device) {
  const PackedProducts products = products_on(s, device);
  return is_packed(s) &&
         (products == PackedProducts::in_memory || products == PackedProducts::in_memory_each_pass);
}

Throughput card_rate(const Scenario& s, const Device& device) {
  const KernelEfficiency& rates = efficiency_on(s, device);
  const KernelPolicy& kernels = s.runtime->kernels;
  const BytesPerSecond bandwidth = device.bandwidth;
  Throughput rate;
  rate.bytes_s = bandwidth_of(s, device) * rates.decode_bandwidth.value;
  rate.repeat_s = BytesPerSecond(kernels.repeat_bandwidth.value);
  rate.flops_s = product_peak(s, device) * product_share(s, device, rates).value;
  rate.attend_s = peak(s, device, Arithmetic::dequantised) * kernels.score_compute.value;
  rate.score_s = RealBytes(kernels.score_traffic.value) / bandwidth;
  rate.channel_s = RealBytes(kernels.activation_traffic.value) / bandwidth;
  if (unpacks_into_memory(s, device))
    rate.unpack_s = unpack_seconds(s, device, rates, bytes_per_layer_parameter(*s.weights));
  rate.expert_reads = rates.expert_reads.value;
  rate.cache_weight = kernels.cache_cost.value;
  rate.expert_weight = expert_weight(s);
  if (kernels.dequant_bytes_per_element > 0)
    rate.unpack_cache_s = unpack_seconds(s, device, rates, cache_precision(s).element_bytes());
  return rate;
}

namespace {

/// Share of the CPU's byte products that weights in their stored format reach. llama.cpp has tiles
/// of rows and tokens for few formats. For others it unpacks each row for each token. Codebook
/// formats also look up elements. Llama-3.1-8B, 512 tokens on a Ryzen 9 7950X
/// (ikawrakow/ik_llama.cpp discussion 164): 112 to 154 tokens/s of the tiled ones and 108 of Q4_K,
/// whose tiles are younger; 74 to 85 of Q3_K, Q5_K, Q6_K and IQ4_XS, 79 in 16 bit, 30 to 50 of
/// codebooks.
double product_speed(const Scenario& s) {
  constexpr double row_by_row = 0.5, looked_up = 0.25;
  constexpr std::string_view tiled[] = {"q8_0", "q4_0", "q5_0", "iq4_nl", "q4_K"};
  const std::string_view format = s.weights->scheme->format;
  if (!s.runtime->offload.dots_on_cpu || std::ranges::find(tiled, format) != std::end(tiled))
    return 1;
  return format.starts_with("iq") && !format.starts_with("iq4") ? looked_up : row_by_row;
}

}  // namespace

Throughput cpu_rate(const Scenario& s) {
  constexpr double boost = 1.3;
  const Host& host = s.machine->host;
  const double further = static_cast<double>(host.sockets - 1);
  const double used = (1 + further * s.runtime->offload.remote_numa_share.value) / (1 + further);
  BytesPerSecond bandwidth = used * host.ram_bandwidth * s.runtime->offload.cpu_bandwidth.value;
  FlopsPerSecond flops = used * host.cpu_peak * s.runtime->offload.cpu_compute.value;
  if (s.threads > 0 && s.threads < host.cores) {
    const auto threads = static_cast<double>(s.threads);
    bandwidth =
        std::min(bandwidth, BytesPerSecond(threads * s.runtime->offload.thread_bandwidth.value));
    flops *= std::min(1.0, boost * threads / static_cast<double>(host.cores));
  }
  Throughput rate;
  rate.bytes_s = rate.repeat_s = bandwidth;
  rate.flops_s = flops * product_speed(s);
  rate.attend_s = flops;
  rate.expert_weight = expert_weight(s);
  return rate;
}

PrefillOffload host_prompts(const Scenario& s, double tokens) {
  if (s.runtime->offload.prefill == PrefillOffload::on_cpu || s.machine->devices.empty() ||
      tokens < static_cast<double>(s.runtime->offload.prefill_tokens))
    return PrefillOffload::on_cpu;
  if (card_budget(s, 0) <= Bytes(0)) return PrefillOffload::on_cpu;
  const bool one_memory = s.machine->has_unified_memory();
  return s.runtime->offload.prefill == PrefillOffload::on_card && one_memory
             ? PrefillOffload::faster
             : s.runtime->offload.prefill;
}
BytesPerSecond bus_rate(const Scenario& s) {
  const OffloadPolicy& offload = s.runtime->offload;
  const BytesPerSecond bus = s.machine->host_bus(0) * offload.stream_bandwidth.value;
  const std::string& kind = s.machine->devices.front().host_bus_kind;
  const bool coherent = !kind.empty() && !kind.starts_with("PCIe");
  if (offload.staging_bandwidth.value <= 0 || coherent) return bus;
  return std::min(bus, BytesPerSecond(offload.staging_bandwidth.value));
}
BytesPerSecond disk_rate(const Scenario& s) {
  return s.machine->host.disk_read * s.runtime->offload.disk_bandwidth.value;
}

}  // namespace headroom::model
