#include "model/infer/timeline/rates.hpp"

#include <algorithm>
#include <cstdlib>

namespace headroom::model {
namespace {

/// How weights below 16 bit are multiplied on `device`. Bytes are multiplied fast by matrix units
/// from compute capability 7.5 on, and by 6.1, four pairs in the lane of one fp32 product (CUDA C++
/// programming guide: __dp4a), which has no fast 16-bit products; Metal has none of bytes.
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

bool is_packed(const Scenario& s) {
  const Arithmetic arithmetic = s.weights->arithmetic;
  return arithmetic == Arithmetic::dequantised || arithmetic == Arithmetic::fp4;
}

bool multiplies_bytes(const Scenario& s, const Device& device) {
  return is_packed(s) && products_on(s, device) == PackedProducts::bytes;
}

/// Whether matrix units sum products of fp16 in fp16: compute capability 7.0 and later.
bool has_fast_halves(const Device& device) {
  return device.compute_capability >= ComputeCapability{7, 0};
}

/// Dense peak of the products as the engine makes them: 16 bit no slower than what it is converted
/// to where a card is no quicker with it. Cards that accumulate fp16 in 16 bit do so at four times
/// their fp32 rate; GeForce lists half of that, which is with fp32 sums (NVIDIA Ampere and Ada
/// architecture white papers, appendix). Of bf16 the sums are in fp32. Where an engine leaves
/// matrix units alone shader cores multiply at their fp32 rate; other makers' rows have 16 bit as
/// those cores do it.
double peak(const Scenario& s, const Device& device, Arithmetic arithmetic) {
  double rate = device.peak(arithmetic).value();
  const bool sixteen = arithmetic == Arithmetic::fp16 || arithmetic == Arithmetic::bf16 ||
                       arithmetic == Arithmetic::dequantised;
  if (arithmetic == Arithmetic::int8 && device.fp32 &&
      device.compute_capability == ComputeCapability{6, 1})
    rate = std::max(rate, 4 * device.fp32->value());
  if (sixteen && device.fp32) rate = std::max(rate, device.fp32->value());
  if (!s.runtime->kernels.matrix_units && device.vendor == "nvidia" && device.fp32)
    return device.fp32->value();
  const bool halves = arithmetic != Arithmetic::bf16 && has_fast_halves(device);
  if (s.runtime->kernels.half_accumulate && halves && sixteen && device.fp32 &&
      card_class(device) == CardClass::gddr)
    rate = std::max(rate, 4 * device.fp32->value());
  return rate;
}

}  // namespace

double product_peak(const Scenario& s, const Device& device) {
  if (multiplies_bytes(s, device)) return peak(s, device, Arithmetic::int8);
  // LLM.int8 takes as long as 16 bit or longer: outliers are multiplied apart, products of bytes
  // scaled and added to those (Dettmers et al., arXiv:2208.07339, appendix D).
  const bool outliers = s.weights->scheme->family == SchemeFamily::bitsandbytes;
  return peak(
      s, device,
      unpacks_into_memory(s, device) || outliers ? Arithmetic::dequantised : s.weights->arithmetic);
}

namespace {

/// Of a packed byte of so many for each element: reading it and writing that in 16 bit, or what is
/// moved by the operations of PyTorch that do so.
double unpack_seconds(const Scenario& s, const Device& device, const Rates& rates, double bytes) {
  const double moves = s.runtime->kernels.dequant_bytes_per_element;
  return (moves > 0 ? moves / bytes : 1 + 2 / bytes) /
         (rates.unpack_bandwidth.value * device.bandwidth.value());
}

/// Bandwidth at which `device` can multiply what it reads: matrix units take whole tiles of `rows`
/// however few tokens there are, so that a card with few of them for its memory (H20) cannot follow
/// it.
double tiled_bandwidth(const Scenario& s, const Device& device, double rows) {
  const double bandwidth = device.bandwidth.value();
  if (!s.runtime->kernels.whole_tiles || device.compute_capability != ComputeCapability{9, 0})
    return bandwidth;
  return std::min(bandwidth,
                  bytes_per_parameter(*s.weights) * product_peak(s, device) / (2 * rows));
}

/// Operations in fp32 that shader cores could do while they unpack a weight of ggml's super-blocks
/// for single tokens; 0: it does not hold up reading. Apple's take some twenty for masks, shifts
/// and scales of 6 bits (ggml-metal.metal: kernel_mul_mv_q4_K_f32). Of 2 and 3 bits each four
/// weights have a scale to multiply and to convert (ggml-cuda vecdotq.cuh:
/// vec_dot_q2_K_q8_1_impl_mmvq), which NVIDIA's cards before Volta do in the lanes of fp32 (Volta
/// architecture white paper: whole numbers have lanes of their own from then on): Llama-7B takes
/// 30.0 and 32.5 ms a token with them on a P40, 18.6 in Q4_K_S (llama.cpp pull request 4766).
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
double bandwidth_of(const Scenario& s, const Device& device) {
  const double operations = unpacking_operations(s, device);
  if (operations > 0 && device.fp32)
    return std::min(device.bandwidth.value(),
                    bytes_per_parameter(*s.weights) * device.fp32->value() / operations);
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

/// Whether cards meet over the host's bus: none of PCIe 5.0 is faster than 64 GB/s.
bool over_bus(const Scenario& s, Size cards) {
  constexpr double bus = 64e9;
  return s.machine->card_link(static_cast<std::size_t>(cards)).value() <= bus;
}

}  // namespace

double launches(const Scenario& s, const Pass& pass, double kernels) {
  const Engine& r = *s.runtime;
  return pass.weight_reads * (kernels + r.serving.step_s.value) +
         pass.logit_rows * r.serving.sequence_s.value;
}
double launches(const Scenario& s, const Pass& pass) {
  return launches(s, pass, kernels(s, pass.layers) * rates_of(s).kernel_s.value);
}

double weight_read(const Work& work, const Rate& rate) {
  if (work.expert_bytes == 0) return work.weight_bytes;
  return work.weight_bytes + (rate.expert_weight - 1) * work.expert_bytes;
}
double cache_read(const Work& work, const Rate& rate) {
  return rate.cache_weight * work.cache_bytes;
}
double between_products(const Work& work, const Rate& rate) {
  return cache_read(work, rate) / rate.bytes_s + work.packed_caches * rate.unpack_cache_s +
         (work.repeated > 0 ? work.repeated / rate.repeat_s : 0);
}

double compute_seconds(const Work& work, const Rate& rate) {
  const double attention =
      work.attention_flops > 0
          ? (work.attention_flops + work.wave_quantisation_flops) / rate.attend_s
          : 0;
  const double experts = work.prefill_expert_bytes > 0
                             ? rate.expert_reads * work.prefill_expert_bytes / rate.bytes_s
                             : 0;
  return (work.flops - work.attention_flops) / rate.flops_s + attention +
         work.scores * rate.score_s + work.channels * rate.channel_s +
         work.packed_bytes * rate.unpack_s + experts;
}

double seconds(const Work& work, const Rate& rate) {
  return std::max(weight_read(work, rate) / rate.bytes_s, compute_seconds(work, rate)) +
         between_products(work, rate);
}

const Rates& rates_on(const Scenario& s, const Device& device) {
  return s.runtime->rates_on(device, *s.weights);
}
const Rates& rates_of(const Scenario& s) {
  if (!s.machine->devices.empty()) return rates_on(s, s.machine->devices.front());
  return s.runtime->kernels.rates[static_cast<std::size_t>(CardClass::other)]
                                 [static_cast<std::size_t>(width_of(*s.weights))];
}

const Constant& product_share(const Scenario& s, const Device& device, const Rates& rates) {
  if (multiplies_bytes(s, device)) return rates.byte_compute;
  if (s.weights->arithmetic != Arithmetic::dequantised) return rates.prefill_compute;
  const Constant& sixteen = s.runtime->kernels
                                .rates[static_cast<std::size_t>(card_class(device))]
                                      [static_cast<std::size_t>(Width::sixteen)]
                                .prefill_compute;
  return sixteen.value < rates.prefill_compute.value ? sixteen : rates.prefill_compute;
}

bool unpacks_into_memory(const Scenario& s, const Device& device) {
  return is_packed(s) && products_on(s, device) == PackedProducts::in_memory;
}

Rate card_rate(const Scenario& s, const Device& device) {
  const Rates& rates = rates_on(s, device);
  const double bandwidth = device.bandwidth.value();
  return {bandwidth_of(s, device) * rates.decode_bandwidth.value,
          s.runtime->kernels.repeat_bandwidth.value,
          product_peak(s, device) * product_share(s, device, rates).value,
          peak(s, device, Arithmetic::dequantised) * s.runtime->kernels.score_compute.value,
          s.runtime->kernels.score_traffic.value / bandwidth,
          s.runtime->kernels.activation_traffic.value / bandwidth,
          unpacks_into_memory(s, device)
              ? unpack_seconds(s, device, rates, bytes_per_parameter(*s.weights))
              : 0,
          rates.expert_reads.value,
          s.runtime->kernels.cache_cost.value,
          expert_weight(s),
          s.runtime->kernels.dequant_bytes_per_element > 0
              ? unpack_seconds(s, device, rates, s.kv_precision->element_bytes())
              : 0};
}

namespace {

/// Share of the CPU's products of bytes that those of weights as they are held reach. llama.cpp
/// has tiles of rows and tokens for few formats; of others it unpacks each row for each token, and
/// looks elements up where the format is of codebooks. Llama-3.1-8B, 512 tokens on a Ryzen 9 7950X
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

Rate cpu_rate(const Scenario& s) {
  constexpr double boost = 1.3;
  const Host& host = s.machine->host;
  const double further = static_cast<double>(host.sockets - 1);
  const double used = (1 + further * s.runtime->offload.remote_numa_share.value) / (1 + further);
  double bandwidth = used * host.ram_bandwidth.value() * s.runtime->offload.cpu_bandwidth.value;
  double flops = used * host.cpu_peak.value() * s.runtime->offload.cpu_compute.value;
  if (s.threads > 0 && s.threads < host.cores) {
    const auto threads = static_cast<double>(s.threads);
    bandwidth = std::min(bandwidth, threads * s.runtime->offload.thread_bandwidth.value);
    flops *= std::min(1.0, boost * threads / static_cast<double>(host.cores));
  }
  Rate rate{bandwidth, bandwidth, flops * product_speed(s), flops};
  rate.expert_weight = expert_weight(s);
  return rate;
}
PrefillOffload host_prompts(const Scenario& s, double tokens) {
  const bool card = !s.machine->devices.empty() && card_budget(s, 0) > Bytes(0);
  if (!card || tokens < static_cast<double>(s.runtime->offload.prefill_tokens))
    return PrefillOffload::on_cpu;
  const bool one_memory = s.machine->devices.front().unified_memory;
  return s.runtime->offload.prefill == PrefillOffload::on_card && one_memory
             ? PrefillOffload::faster
             : s.runtime->offload.prefill;
}
double cpu_attention_seconds(const Work& attention, const Rate& cpu) {
  const double slower = attention.attention_flops > 0 ? 8 : 16;
  return std::max((weight_read(attention, cpu) + cache_read(attention, cpu)) / cpu.bytes_s,
                  slower * attention.flops / cpu.attend_s);
}
const Constant& reduce_latency(const Scenario& s, Size cards) {
  return over_bus(s, cards) ? s.runtime->parallel.reduce_over_bus_s
                            : s.runtime->parallel.reduce_latency_s;
}
double link_rate(const Scenario& s, Size cards) {
  return s.machine->card_link(static_cast<std::size_t>(cards)).value() *
         s.runtime->parallel.link_bandwidth.value;
}
double bus_rate(const Scenario& s) {
  return s.machine->host_bus(0).value() * s.runtime->offload.stream_bandwidth.value;
}
double disk_rate(const Scenario& s) {
  return s.machine->host.disk_read.value() * s.runtime->offload.disk_bandwidth.value;
}

}  // namespace headroom::model
