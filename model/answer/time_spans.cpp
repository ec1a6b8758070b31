#include "model/answer/time_spans.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/infer/timeline/throughput.hpp"

namespace headroom::model {
namespace {

/// Operations of one device that share a roofline, from a segment.
class DeviceSpans {
 public:
  /// `work`: under the roofline. `after`: what follows it.
  DeviceSpans(const Segment& segment, const Work& work, Seconds after, std::vector<Span>& out)
      : segment_(segment), roof_(roofline(work, segment.rate)), out_(out) {
    const Seconds alone = roof_.total() + after;
    // Cards that overlap count a share of their time.
    if (alone > Seconds()) counted_ = segment.seconds / alone;
  }

  const Roofline& roof() const { return roof_; }

  /// Work that overlaps with reading weights. The longer of both counts.
  void read(std::string_view name, RealBytes amount, Seconds alone, std::string_view formula,
            const Constant& constant) {
    add(name, amount.value(), "bytes", alone, roof_.is_memory_bound(), formula, constant);
  }
  void compute(std::string_view name, double amount, std::string_view unit, Seconds alone,
               std::string_view formula, const Constant& constant) {
    add(name, amount, unit, alone, !roof_.is_memory_bound(), formula, constant);
  }
  /// Work between matrix products.
  void between(std::string_view name, double amount, std::string_view unit, Seconds alone,
               std::string_view formula, const Constant& constant) {
    add(name, amount, unit, alone, true, formula, constant);
  }

 private:
  void add(std::string_view name, double amount, std::string_view unit, Seconds alone,
           bool waited_for, std::string_view formula, const Constant& constant) {
    if (alone <= Seconds()) return;
    const Seconds counted = waited_for ? counted_ * alone : Seconds();
    out_.push_back({.name = std::string(name),
                    .where = place_of(segment_),
                    .resource = segment_.resource,
                    .amount = amount,
                    .unit = unit,
                    .rate = amount / alone.value(),
                    .seconds = counted,
                    .hidden = alone - counted,
                    .formula = std::string(formula),
                    .constant = &constant});
  }

  const Segment& segment_;
  Roofline roof_;
  double counted_ = 0;  ///< share of the segment's seconds in the pass's total
  std::vector<Span>& out_;
};

void add_products(const Scenario& s, const Device& card, const Work& w, DeviceSpans& spans) {
  const KernelEfficiency& efficiency = efficiency_on(s, card);
  const KernelPolicy& kernels = s.runtime->kernels;
  const Roofline& roof = spans.roof();
  spans.read("read weights", w.weight_bytes, roof.read_weights, "bytes / (share * bandwidth)",
             efficiency.decode_bandwidth);
  spans.compute("products", (w.flops - w.attention_flops).value(), "FLOPs", roof.products,
                "FLOPs / (share * peak)", product_share(s, card, efficiency));
  const Flops attention = w.attention_flops + w.wave_quantisation_flops;
  const double idle = attention > Flops() ? w.wave_quantisation_flops / attention : 0;
  spans.compute("attention of the prompt", w.attention_flops.value(), "FLOPs",
                roof.attention * (1 - idle), "FLOPs / (share * 16-bit peak)",
                kernels.score_compute);
  spans.compute(
      "idle multiprocessors", w.wave_quantisation_flops.value(), "FLOPs", roof.attention * idle,
      "FLOPs that the last round of attention's blocks leaves free / (share * 16-bit peak)",
      kernels.score_compute);
  spans.compute("attention scores through memory", w.scores, "scores", roof.score_traffic,
                "scores * bytes moved for each / bandwidth", kernels.score_traffic);
  spans.compute("activations through memory", w.channels, "channels", roof.activations,
                "channels * bytes moved for each / bandwidth", kernels.activation_traffic);
  spans.compute("unpack weights", w.packed_bytes.value(), "bytes", roof.unpack_weights,
                "bytes read and written to unpack them / (share * bandwidth)",
                efficiency.unpack_bandwidth);
  spans.compute("read experts", w.prefill_expert_bytes.value(), "bytes", roof.expert_reads,
                "times * bytes / (share * bandwidth)", efficiency.expert_reads);
}

void add_card(const Scenario& s, const Segment& segment, std::vector<Span>& out) {
  const Device& card = s.machine->devices[static_cast<std::size_t>(segment.first_card)];
  const Work& w = segment.work;
  DeviceSpans spans(segment, w, Seconds(), out);
  const Roofline& roof = spans.roof();
  const KernelPolicy& kernels = s.runtime->kernels;
  add_products(s, card, w, spans);
  spans.between("read KV cache", w.cache_bytes.value(), "bytes", roof.read_cache,
                "cost * bytes / (share * bandwidth)", kernels.cache_cost);
  spans.between("unpack KV cache", w.packed_cache_bytes.value(), "bytes", roof.unpack_cache,
                "(packed bytes + bytes in 16 bit) / (share * bandwidth)",
                efficiency_on(s, card).unpack_bandwidth);
  spans.between("copy keys and values", w.kv_repeat_bytes.value(), "bytes", roof.repeat_kv,
                "bytes in 16 bit / copying bandwidth", kernels.repeat_bandwidth);
}

void add_cpu(const Scenario& s, const Segment& segment, std::vector<Span>& out) {
  const OffloadPolicy& offload = s.runtime->offload;
  const Work matrices = matrices_on_cpu(segment.work, segment.attention);
  const Seconds attention = cpu_attention_seconds(segment.attention, segment.rate);
  DeviceSpans spans(segment, matrices, attention, out);
  const Roofline& roof = spans.roof();
  spans.read("read weights", matrices.weight_bytes, roof.read_weights,
             "bytes / (share * RAM bandwidth)", offload.cpu_bandwidth);
  spans.compute("products", matrices.flops.value(), "FLOPs", roof.compute(),
                "FLOPs / (share * CPU peak)", offload.cpu_compute);
  spans.between("read KV cache", matrices.cache_bytes.value(), "bytes", roof.between_products(),
                "bytes / (share * RAM bandwidth)", offload.cpu_bandwidth);
  spans.between("attention", segment.attention.flops.value(), "FLOPs", attention,
                "max(bytes / (share * RAM bandwidth), FLOPs row by row / (share * CPU peak))",
                offload.cpu_compute);
}

void add_wait(const Scenario& s, const Segment& segment, std::vector<Span>& out) {
  const Seconds alone = segment.seconds + segment.hidden;
  if (alone <= Seconds()) return;
  Span span = span_of_wait(s, segment);
  span.where = place_of(segment);
  span.resource = segment.resource;
  span.amount = span.unit == "bytes" ? segment.moved.value() : segment.kernels;
  span.rate = span.amount / alone.value();
  span.seconds = segment.seconds;
  span.hidden = segment.hidden;
  out.push_back(std::move(span));
}

bool same_operation(const Span& a, const Span& b) {
  return a.name == b.name && a.resource == b.resource && a.constant == b.constant &&
         std::abs(a.rate - b.rate) <= 1e-6 * std::abs(a.rate);
}

/// "gpu 0" and "gpu 1" are "gpu 0-1".
std::string joined(const std::string& a, const std::string& b) {
  if (a == b || !a.starts_with("gpu ") || !b.starts_with("gpu ")) return a;
  const auto first = a.substr(0, a.find('-')), last = b.substr(b.find_last_of("- ") + 1);
  return first + "-" + last;
}

/// Cards that follow each other with the same operation at the same rate become one span.
std::vector<Span> merged(std::vector<Span> spans) {
  std::vector<Span> all;
  for (Span& span : spans) {
    const auto same =
        std::ranges::find_if(all, [&](const Span& other) { return same_operation(other, span); });
    if (same == all.end()) {
      all.push_back(std::move(span));
      continue;
    }
    same->amount += span.amount;
    same->seconds += span.seconds;
    same->hidden += span.hidden;
    same->where = joined(same->where, span.where);
  }
  return all;
}

}  // namespace

std::string place_of(const Segment& segment) {
  switch (segment.resource) {
    case Resource::cards:
      return segment.last_card - segment.first_card > 1
                 ? fmt::format("gpu {}-{}", segment.first_card, segment.last_card - 1)
                 : fmt::format("gpu {}", segment.first_card);
    case Resource::cpu:
      return "cpu";
    case Resource::bus:
      return "host bus";
    case Resource::disk:
      return "disk";
    case Resource::link:
      return "link";
    default:
      return "host";
  }
}

Span span_of_wait(const Scenario& s, const Segment& segment) {
  const Engine& r = *s.runtime;
  const auto of = [](std::string_view name, std::string_view unit, std::string_view formula,
                     const Constant& constant) {
    return Span{.name = std::string(name),
                .unit = unit,
                .formula = std::string(formula),
                .constant = &constant};
  };
  switch (segment.resource) {
    case Resource::bus:
      return of("copy to the card", "bytes", "bytes / (share * host bus)",
                r.offload.stream_bandwidth);
    case Resource::disk:
      return of("read from disk", "bytes", "bytes / (share * disk read)", r.offload.disk_bandwidth);
    case Resource::link: {
      const auto cards = static_cast<std::size_t>(segment.last_card);
      const LinkPath path =
          reduce_path(r, *s.machine, s.machine->card_link(cards).path, segment.last_card);
      const Constant& latency = reduce_latency(r, *s.machine, path);
      return r.parallel.split == Split::layers && !r.parallel.tensor_parallel_layers
                 ? of("exchange of rows", "bytes",
                      "matrices * latency + (inputs to the other cards + results) / (share * link)",
                      latency)
                 : of("all-reduces", "bytes",
                      "2 * layers * (latency, more in a ring of more cards, + 2 (n - 1) / n * "
                      "activations / (share * link))",
                      latency);
    }
    case Resource::handoffs:
      return of("device handoffs", "times", "times * seconds of each", r.offload.device_handoff_s);
    case Resource::eager:
      return of("kernels without CUDA graphs", "kernels",
                "kernels * seconds of each, beyond everything else", r.kernels.eager_kernel_s);
    default:
      return of("launches", "kernels",
                "kernels * seconds of each + seconds of the pass + sequences * seconds of each",
                efficiency_of(s).kernel_s);
  }
}

std::vector<Span> spans_of(const Scenario& s, const Timeline& time) {
  std::vector<Span> spans;
  for (const Segment& segment : time.segments) {
    if (segment.resource == Resource::cards)
      add_card(s, segment, spans);
    else if (segment.resource == Resource::cpu)
      add_cpu(s, segment, spans);
    else
      add_wait(s, segment, spans);
  }
  return merged(std::move(spans));
}

}  // namespace headroom::model
