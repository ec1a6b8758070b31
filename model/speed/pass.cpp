#include "model/speed/pass.hpp"

#include <algorithm>
#include <cmath>

#include "model/memory/activation.hpp"
#include "model/placement/layer_split.hpp"

namespace headroom::model {
namespace {

double at(const std::vector<double>& before, Range range) {
  return before[static_cast<std::size_t>(range.last)] -
         before[static_cast<std::size_t>(range.first)];
}
double over(const std::vector<Size>& before, Range range) {
  return static_cast<double>(before[static_cast<std::size_t>(range.last)] -
                             before[static_cast<std::size_t>(range.first)]);
}

/// How weights below 16 bit are multiplied on `device`. Bytes are multiplied fast by matrix units
/// from compute capability 7.5 on, and by 6.1, four pairs in the lane of one fp32 product (CUDA C++
/// programming guide: __dp4a), which has no fast 16-bit products; Metal has none of bytes.
PackedProducts products_on(const Scenario& s, const Device& device) {
  const PackedProducts chosen = s.runtime->packed_products;
  if (chosen != PackedProducts::bytes && chosen != PackedProducts::in_memory_or_bytes)
    return chosen;
  const std::string& capability = device.compute_capability;
  if (device.vendor == "apple") return PackedProducts::in_registers;
  if (device.vendor != "nvidia" || capability == "6.1") return PackedProducts::bytes;
  if (capability == "6.0" || capability == "7.0") return PackedProducts::in_memory;
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
  const std::string& capability = device.compute_capability;
  return capability.size() > 3 || (capability.size() == 3 && capability[0] >= '7');
}

/// Dense peak of the products as the engine makes them: 16 bit no slower than what it is converted
/// to where a card is no quicker with it. Cards that accumulate fp16 in 16 bit do so at four times
/// their fp32 rate; GeForce lists half of that, which is with fp32 sums (NVIDIA Ampere and Ada
/// architecture white papers, appendix). Of bf16 the sums are in fp32.
double peak(const Scenario& s, const Device& device, Arithmetic arithmetic) {
  double rate = device.peak(arithmetic).value();
  const bool sixteen = arithmetic == Arithmetic::fp16 || arithmetic == Arithmetic::bf16 ||
                       arithmetic == Arithmetic::dequantised;
  if (arithmetic == Arithmetic::int8 && device.fp32 && device.compute_capability == "6.1")
    rate = std::max(rate, 4 * device.fp32->value());
  if (sixteen && device.fp32) rate = std::max(rate, device.fp32->value());
  const bool halves = arithmetic != Arithmetic::bf16 && has_fast_halves(device);
  if (s.runtime->half_accumulate && halves && sixteen && device.fp32 &&
      card_class(device) == CardClass::gddr)
    rate = std::max(rate, 4 * device.fp32->value());
  return rate;
}

double peak(const Scenario& s, const Device& device) {
  if (multiplies_bytes(s, device)) return peak(s, device, Arithmetic::int8);
  // LLM.int8 takes as long as 16 bit or longer: outliers are multiplied apart, products of bytes
  // scaled and added to those (Dettmers et al., arXiv:2208.07339, appendix D).
  const bool outliers = s.weights->scheme->family == SchemeFamily::bitsandbytes;
  return peak(
      s, device,
      unpacks_into_memory(s, device) || outliers ? Arithmetic::dequantised : s.weights->arithmetic);
}

/// Of a packed byte: reading it and writing its elements in 16 bit.
double unpack_seconds(const Scenario& s, const Device& device, const Rates& rates) {
  if (!unpacks_into_memory(s, device)) return 0;
  const double share = rates.unpack_bandwidth.value;
  return (1 + 2 / bytes_per_parameter(*s.weights)) / (share * device.bandwidth.value());
}

/// Products of experts that are made beside each that a token asks for: an expert takes whole tiles
/// of tokens, of which the last is half empty on average.
double padding(const Scenario& s, const Pass& pass) {
  const Routing routing = s.weights->model->profile.routing;
  const double tokens = pass.tokens / pass.weight_reads;
  const double tile = std::min(tokens, static_cast<double>(s.runtime->expert_tile));
  if (tile <= 0 || routing.experts <= 0) return 0;
  const double each =
      tokens * static_cast<double>(routing.used) / static_cast<double>(routing.experts);
  return std::max(0.0, std::max(pass.touched, each / tile + pass.touched / 2) * tile / each - 1);
}

/// Scores that stand in memory, by those that count: products make the masked ones too, a chunk's
/// queries by all keys until its end.
double square(const Scenario& s, const Pass& pass) {
  const auto prompt = static_cast<double>(pass.prompt);
  const auto chunk = static_cast<double>(prefill_chunk(s));
  return (prompt + (chunk > 0 ? std::min(chunk, prompt) : prompt)) / (prompt + 1);
}

/// Bandwidth at which `device` can multiply what it reads: matrix units take whole tiles of rows
/// however few tokens there are, 64 on compute capability 9, 16 where packed weights are unpacked
/// on the way (PTX ISA: wgmma.mma_async m64nNk16, mma.m16n8k16), so that a card with few of them
/// for its memory (H20) cannot follow it.
double bandwidth_of(const Scenario& s, const Device& device) {
  const double bandwidth = device.bandwidth.value();
  if (!s.runtime->whole_tiles || device.compute_capability != "9.0") return bandwidth;
  const double rows = s.weights->arithmetic == Arithmetic::dequantised ? 16 : 64;
  return std::min(bandwidth, bytes_per_parameter(*s.weights) * peak(s, device) / (2 * rows));
}

/// Whether cards meet over the host's bus: none of PCIe 5.0 is faster than 64 GB/s.
bool over_bus(const Scenario& s, Size cards) {
  constexpr double bus = 64e9;
  return s.machine->card_link(static_cast<std::size_t>(cards)).value() <= bus;
}

}  // namespace

Pass decode_pass(const Scenario& s, CachedTokens tokens, Size each) {
  const Profile& profile = s.weights->model->profile;
  Pass pass;
  pass.tokens = pass.logit_rows = static_cast<double>(s.batch * each);
  pass.layers = {profile.first_decoding, profile.end_decoding};
  pass.cached = tokens;
  pass.touched = experts_touched(profile, pass.tokens);
  return pass;
}

Pass prefill_pass(const Scenario& s, Size prompt) {
  const Profile& profile = s.weights->model->profile;
  Pass pass;
  pass.tokens = static_cast<double>(s.batch) * static_cast<double>(prompt);
  pass.logit_rows = static_cast<double>(s.batch);
  const Size chunk = prefill_chunk(s);
  if (chunk > 0) pass.weight_reads = std::ceil(pass.tokens / static_cast<double>(chunk));
  const auto layers = static_cast<Size>(profile.layers.size());
  // A text prompt runs the decoder; an encoder's layers run instead where the prompt goes there.
  pass.layers = s.weights->model->encoder_decoder && profile.first_decoding > 0
                    ? Range{0, profile.first_decoding}
                    : Range{profile.first_decoding, profile.end_decoding};
  if (!profile.generative) pass.layers = {0, layers};
  pass.prompt = prompt;
  pass.touched = experts_touched(profile, pass.tokens / pass.weight_reads);
  return pass;
}

Pass tower_pass(const Scenario& s) {
  Pass pass;
  const auto patches = static_cast<double>(s.images.patches);
  const double images = static_cast<double>(s.batch) * static_cast<double>(s.images.count);
  pass.tokens = images * patches;
  pass.logit_rows = 0;
  const auto [first, end] = s.weights->model->profile.towers();
  pass.layers = {first, end};
  pass.touched = experts_touched(s.weights->model->profile, pass.tokens);
  pass.patch_flops = 4 * images * patches * patches * static_cast<double>(s.images.hidden);
  return pass;
}

Pass step_pass(const Scenario& s) {
  if (!s.weights->model->profile.generative) return prefill_pass(s, s.prompt_tokens);
  return s.kv_cache ? decode_pass(s, mean_tokens(s)) : prefill_pass(s, mean_tokens(s).self);
}

Range intersect(Range a, Range b) {
  const Size first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.last, b.last))};
}

Work work_of(const Scenario& s, const Pass& pass, const Piece& piece) {
  const Weights& w = *s.weights;
  const Profile& profile = w.model->profile;
  const Range run = intersect(piece.layers, pass.layers);
  if (run.size() == 0) return {};
  double dense = at(w.read_dense, run), routed = at(w.read_routed, run);
  double multiplied = at(profile.multiplied_before, run);
  if (piece.content == Content::dense) {
    routed = 0;
    multiplied -= at(profile.routed_before, run);
  } else if (piece.content == Content::experts) {
    dense = 0;
    multiplied = at(profile.routed_before, run);
  }
  Work work;
  work.expert_bytes = pass.weight_reads * routed * pass.touched;
  work.weight_bytes = pass.weight_reads * dense + work.expert_bytes;
  work.flops = 2.0 * multiplied * pass.tokens + pass.patch_flops * static_cast<double>(run.size());
  if (pass.prompt > 0) {
    work.packed_bytes = work.weight_bytes;
    if (piece.content != Content::dense)
      work.padding = 2.0 * at(profile.routed_before, run) * pass.tokens * padding(s, pass);
  }
  if (piece.content == Content::experts) return work;
  if (pass.prompt > 0 && s.runtime->activations_in_memory)
    work.channels = pass.tokens * static_cast<double>(w.model->shape.hidden_size) *
                    static_cast<double>(run.size());
  return work + attention_work(s, pass, run);
}

Work attention_work(const Scenario& s, const Pass& pass, Range layers) {
  const Range run = intersect(layers, pass.layers);
  Work work;
  if (pass.prompt > 0) {
    work.flops = prefill_score_flops(s, pass.prompt, run.first, run.last);
    if (s.runtime->score_bytes > 0) {
      const Size width = std::max<Size>(1, s.weights->model->shape.head_dim);
      work.flops *= square(s, pass);
      work.scores = work.flops / (4.0 * static_cast<double>(width));
    }
    work.attended = work.flops;
    return work;
  }
  work.cache_bytes = kv_read(s, pass.cached, run.first, run.last);
  const double flops = decode_score_flops(s, pass.cached, run.first, run.last);
  work.flops = flops * pass.tokens / static_cast<double>(s.batch);
  // Two operations for each element of K and V, as many as its bytes in 16 bit; once for all
  // tokens of a sequence.
  if (s.runtime->repeats_to_attend) work.repeated = flops;
  return work;
}

Work head_work(const Scenario& s, const Pass& pass) {
  if (pass.logit_rows == 0) return {};
  const Weights& w = *s.weights;
  return {.weight_bytes = w.head_read,
          .flops = 2.0 * static_cast<double>(w.model->profile.head_elements) * pass.logit_rows};
}

Work host_work(const Scenario& s, const Pass& pass, Range range) {
  Work work;
  if (s.layer_split == nullptr || s.layer_split->on_host.bytes_before.empty()) return work;
  const HostTensors& host = s.layer_split->on_host;
  const Range run = intersect(range, pass.layers);
  work.expert_bytes = pass.weight_reads * at(host.read_routed_before, run) * pass.touched;
  work.weight_bytes = pass.weight_reads * at(host.read_dense_before, run) + work.expert_bytes;
  work.flops = 2.0 * at(host.multiplied_before, run) * pass.tokens;
  if (pass.prompt > 0) work.packed_bytes = work.weight_bytes;
  return work;
}

double host_layers(const Scenario& s, const Pass& pass, Range range) {
  if (s.layer_split == nullptr || s.layer_split->on_host.bytes_before.empty()) return 0;
  return at(s.layer_split->on_host.layers_before, intersect(range, pass.layers));
}

double streamed_bytes(const Scenario& s, const Pass& pass, const Piece& piece) {
  const Range run = intersect(piece.layers, pass.layers);
  const double dense = at(s.weights->read_dense, run), routed = at(s.weights->read_routed, run);
  if (piece.content == Content::whole) return dense + routed;
  return piece.content == Content::experts ? routed : dense;
}

double runs(const Scenario& s, const Pass& pass) {
  return over(s.weights->model->profile.passes_before, pass.layers);
}

double kernels(const Scenario& s, const Pass& pass) {
  const Profile& profile = s.weights->model->profile;
  const Runtime& r = *s.runtime;
  const auto of_experts =
      r.experts_looped ? static_cast<double>(profile.routing.experts) * r.expert_kernels.value
                       : r.mixture_kernels.value;
  const double mixtures = over(profile.mixtures_before, pass.layers);
  const bool by_block = width_of(*s.weights) == Width::fp8 && s.weights->scheme->group > 0;
  const double scaled = by_block ? over(profile.matrices_before, pass.layers) + 2 * mixtures : 0;
  return over(profile.kernels_before, pass.layers) + scaled + mixtures * of_experts;
}

double launches(const Scenario& s, const Pass& pass) {
  const Runtime& r = *s.runtime;
  return pass.weight_reads * (kernels(s, pass) * rates_of(s).kernel_s.value + r.step_s.value) +
         pass.logit_rows * r.sequence_s.value;
}

double read_bytes(const Scenario& s, const Work& work) {
  return work.weight_bytes + (s.runtime->expert_cost.value - 1) * work.expert_bytes +
         s.runtime->cache_cost.value * work.cache_bytes;
}

double compute_seconds(const Work& work, const Rate& rate) {
  const double attention = work.attended > 0 ? work.attended / rate.attend_s : 0;
  return (work.flops - work.attended + work.padding) / rate.flops_s + attention +
         work.scores * rate.score_s + work.channels * rate.channel_s +
         work.packed_bytes * rate.unpack_s;
}

double seconds(const Scenario& s, const Work& work, const Rate& rate) {
  return std::max(read_bytes(s, work) / rate.bytes_s, compute_seconds(work, rate)) +
         work.repeated / rate.repeat_s;
}

const Rates& rates_on(const Scenario& s, const Device& device) {
  return s.runtime->rates_on(device, *s.weights);
}
const Rates& rates_of(const Scenario& s) {
  if (!s.machine->devices.empty()) return rates_on(s, s.machine->devices.front());
  return s.runtime->rates[static_cast<std::size_t>(CardClass::other)]
                         [static_cast<std::size_t>(width_of(*s.weights))];
}

const Constant& product_share(const Scenario& s, const Device& device, const Rates& rates) {
  return multiplies_bytes(s, device) ? rates.byte_compute : rates.prefill_compute;
}

bool unpacks_into_memory(const Scenario& s, const Device& device) {
  return is_packed(s) && products_on(s, device) == PackedProducts::in_memory;
}

Rate card_rate(const Scenario& s, const Device& device) {
  const Rates& rates = rates_on(s, device);
  const double bandwidth = device.bandwidth.value();
  return {bandwidth_of(s, device) * rates.decode_bandwidth.value,
          s.runtime->repeat_bandwidth.value,
          peak(s, device) * product_share(s, device, rates).value,
          peak(s, device, Arithmetic::dequantised) * s.runtime->score_compute.value,
          s.runtime->score_traffic.value / bandwidth,
          s.runtime->activation_traffic.value / bandwidth,
          unpack_seconds(s, device, rates)};
}
Rate cpu_rate(const Scenario& s) {
  const Host& host = s.machine->host;
  const double further = static_cast<double>(host.sockets - 1);
  const double used = (1 + further * s.runtime->far_bandwidth.value) / (1 + further);
  const double bandwidth = used * host.ram_bandwidth.value() * s.runtime->cpu_bandwidth.value;
  const double flops = used * host.cpu_peak.value() * s.runtime->cpu_compute.value;
  return {bandwidth, bandwidth, flops, flops};
}
HostPrompts host_prompts(const Scenario& s, double tokens) {
  constexpr double many = 32;  // ggml-cuda.cu: GGML_OP_OFFLOAD_MIN_BATCH
  const bool card = !s.machine->devices.empty() && card_budget(s, 0) > Bytes(0);
  if (!card || tokens < many) return HostPrompts::stay;
  const bool one_memory = s.machine->devices.front().unified_memory;
  return s.runtime->host_prompts == HostPrompts::copied && one_memory ? HostPrompts::quicker
                                                                      : s.runtime->host_prompts;
}
double cpu_attention_seconds(const Scenario& s, const Work& attention) {
  constexpr double slower = 8;
  const Rate rate = cpu_rate(s);
  return std::max(read_bytes(s, attention) / rate.bytes_s, slower * attention.flops / rate.flops_s);
}
const Constant& reduce_latency(const Scenario& s, Size cards) {
  return over_bus(s, cards) ? s.runtime->reduce_over_bus_s : s.runtime->reduce_latency_s;
}
double bus_rate(const Scenario& s) {
  return s.machine->host_bus(0).value() * s.runtime->stream_bandwidth.value;
}
double disk_rate(const Scenario& s) {
  return s.machine->host.disk_read.value() * s.runtime->disk_bandwidth.value;
}

}  // namespace headroom::model
