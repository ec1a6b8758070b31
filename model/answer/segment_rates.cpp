#include "model/answer/segment_rates.hpp"

#include <fmt/format.h>

#include "model/infer/timeline/throughput.hpp"

namespace headroom::model {
namespace {

/// Bytes that `work` moves through memory besides weights.
std::string extra_traffic(const Scenario& s, const Device& card, const Work& work) {
  const KernelPolicy& kernels = s.runtime->kernels;
  const KernelEfficiency& efficiency = efficiency_on(s, card);
  std::string text;
  if (work.packed_bytes > RealBytes() && unpacks_into_memory(s, card))
    text += fmt::format("; weights unpacked into memory at {:.2f} of the bandwidth",
                        efficiency.unpack_bandwidth.value);
  if (work.scores > 0)
    text +=
        fmt::format("; {:.3g} bytes moved for each attention score", kernels.score_traffic.value);
  if (work.prefill_expert_bytes > RealBytes())
    text += fmt::format("; experts are read {:.3g} times in addition to their products",
                        efficiency.expert_reads.value);
  if (work.channels > 0)
    text += fmt::format("; {:.3g} bytes moved for each channel of activations",
                        kernels.activation_traffic.value);
  return text;
}

std::string of_cpu(const Host& host, const Throughput& rate) {
  return fmt::format("{:.2f} of {:.4g} GB/s of RAM; {:.2f} of {:.3g} TFLOPS of the CPU",
                     rate.bytes_s / host.ram_bandwidth, host.ram_bandwidth.value() / 1e9,
                     rate.flops_s / host.cpu_peak, host.cpu_peak.value() / 1e12);
}

std::string of_card(const Scenario& s, const Segment& segment, const Work& work) {
  const Device& card = s.machine->devices[static_cast<std::size_t>(segment.first_card)];
  const Throughput& rate = segment.rate;
  const double share = product_share(s, card, efficiency_on(s, card)).value;
  std::string text = fmt::format("{:.2f} of {:.4g} GB/s; {:.2f} of {:.4g} TFLOPS ({})",
                                 rate.bytes_s / card.bandwidth, card.bandwidth.value() / 1e9, share,
                                 rate.flops_s.value() / share / 1e12, card.name);
  const auto counts = [&](std::string_view what, bool any, double cost) {
    if (any && cost != 1)
      text += fmt::format("; a byte of {} takes as long as {:.2f} of weights", what, cost);
  };
  const Profile& profile = s.weights->model->profile;
  counts("caches", profile.generative, rate.cache_weight);
  counts("experts", profile.routing.experts > 0, rate.expert_weight);
  return text + extra_traffic(s, card, work);
}

std::string of_link(const Scenario& s, Size cards) {
  const ParallelPolicy& policy = s.runtime->parallel;
  const CardLink link = s.machine->card_link(static_cast<std::size_t>(cards));
  const LinkPath path = reduce_path(*s.runtime, *s.machine, link.path, cards);
  const Constant& of_two = reduce_latency(*s.runtime, *s.machine, path);
  return fmt::format("{:.3g} us to start each, {:.2f} of {:.4g} GB/s between {} cards",
                     reduce_start(*s.runtime, of_two, path, cards).value() * 1e6,
                     policy.link_bandwidth.value, link.rate.value() / 1e9, cards);
}

}  // namespace

std::string rates_of(const Scenario& s, const Segment& segment, const Work& work) {
  const Engine& r = *s.runtime;
  switch (segment.resource) {
    case Resource::cards:
      return of_card(s, segment, work);
    case Resource::cpu:
      return of_cpu(s.machine->host, segment.rate);
    case Resource::bus:
      return fmt::format("{:.2f} of {:.3g} GB/s of the bus", r.offload.stream_bandwidth.value,
                         s.machine->host_bus(0).value() / 1e9);
    case Resource::disk:
      return fmt::format("{:.2f} of {:.3g} GB/s of the disk", r.offload.disk_bandwidth.value,
                         s.machine->host.disk_read.value() / 1e9);
    case Resource::link:
      return of_link(s, segment.last_card);
    case Resource::handoffs:
      return fmt::format("{:.3g} us each time", r.offload.device_handoff_s.value * 1e6);
    case Resource::eager:
      return fmt::format("{:.0f} at {:.3g} us", segment.kernels,
                         r.kernels.eager_kernel_s.value * 1e6);
    case Resource::launches:
      break;
  }
  return fmt::format("{:.0f} kernels at {:.3g} us, {:.3g} us a pass, {:.3g} us a sequence",
                     segment.kernels, efficiency_of(s).kernel_s.value * 1e6,
                     r.serving.step_s.value * 1e6, r.serving.sequence_s.value * 1e6);
}

}  // namespace headroom::model
