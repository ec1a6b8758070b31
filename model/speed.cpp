#include "model/speed.hpp"

#include <algorithm>
#include <cmath>

#include "model/layer_split.hpp"

namespace headroom::model {
namespace {

double at(const std::vector<double>& before, Range range) {
  return before[static_cast<std::size_t>(range.last)] -
         before[static_cast<std::size_t>(range.first)];
}

/// One forward pass: how many tokens go through it and which of the model's layers run.
struct Pass {
  double tokens = 1;        ///< through the matrices, all sequences together
  double logit_rows = 1;    ///< positions whose logits are computed
  double weight_reads = 1;  ///< times the weights are read (chunks of a long prompt)
  Range layers;             ///< layers that run
  CachedTokens cached;      ///< decode only
  Size prompt = 0;          ///< prefill only
};

Range intersect(Range a, Range b) {
  const Size first = std::max(a.first, b.first);
  return {first, std::max(first, std::min(a.last, b.last))};
}

/// The roofline's ingredients of layers `range` (and the head) in `pass`.
Work work_of(const Scenario& s, const Pass& pass, Range range, bool with_head) {
  const Weights& w = *s.weights;
  const Profile& profile = w.model->profile;
  const Range run = intersect(range, pass.layers);
  Work work;
  work.weight_bytes =
      pass.weight_reads *
      (at(w.read_dense, run) +
       at(w.read_routed, run) * experts_touched(profile, pass.tokens / pass.weight_reads));
  work.flops = 2.0 * at(profile.multiplied_before, run) * pass.tokens;
  if (pass.prompt > 0) {
    work.flops += prefill_score_flops(s, pass.prompt, run.first, run.last);
  } else {
    work.cache_bytes = kv_read(s, pass.cached, run.first, run.last);
    work.flops += decode_score_flops(s, pass.cached, run.first, run.last);
  }
  if (with_head) {
    work.weight_bytes += w.head_read;
    work.flops += 2.0 * static_cast<double>(profile.head_elements) * pass.logit_rows;
  }
  return work;
}

double card_seconds(const Scenario& s, const Work& work, const Device& device) {
  const double bandwidth = device.bandwidth.value() * s.runtime->decode_bandwidth.value;
  const double compute =
      device.peak(s.weights->arithmetic).value() * s.runtime->prefill_compute.value;
  return std::max((work.weight_bytes + work.cache_bytes) / bandwidth, work.flops / compute);
}

double cpu_seconds(const Scenario& s, const Work& work) {
  const Host& host = s.machine->host;
  return std::max((work.weight_bytes + work.cache_bytes) /
                      (host.ram_bandwidth.value() * s.runtime->cpu_bandwidth.value),
                  work.flops / (host.cpu_peak.value() * s.runtime->cpu_compute.value));
}

double bus(const Scenario& s) {
  return s.machine->host_bus(0).value() * s.runtime->stream_bandwidth.value;
}
double disk(const Scenario& s) {
  return s.machine->host.disk_read.value() * s.runtime->disk_bandwidth.value;
}

/// Bytes of layers `range` that a streaming runtime moves: whole modules, all experts included.
double streamed_bytes(const Scenario& s, Range range, const Pass& pass) {
  const Range run = intersect(range, pass.layers);
  return static_cast<double>(layer_bytes(*s.weights, run).count());
}

/// What tensors that stay in host memory cost, of layers `range` that are on cards.
Work host_work(const Scenario& s, const Pass& pass, Range range) {
  Work work;
  if (s.layer_split == nullptr || s.layer_split->on_host.bytes_before.empty()) return work;
  const HostTensors& host = s.layer_split->on_host;
  const Range run = intersect(range, pass.layers);
  work.weight_bytes = pass.weight_reads * (at(host.read_dense_before, run) +
                                           at(host.read_routed_before, run) *
                                               experts_touched(s.weights->model->profile,
                                                               pass.tokens / pass.weight_reads));
  work.flops = 2.0 * at(host.multiplied_before, run) * pass.tokens;
  return work;
}

/// Cards that follow each other: each works through its own layers, without what stays on the host.
void add_layer_split(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time) {
  for (Size card = 0; card < plan.cards; ++card) {
    Work work = work_of(s, pass, plan.layers_of(card), plan.has_head(card));
    if (plan.partly_on_host) {
      const Work host = host_work(s, pass, plan.layers_of(card));
      work.weight_bytes -= host.weight_bytes;
      work.flops -= host.flops;
    }
    if (!caches_on_cards(s)) work.cache_bytes = 0;
    time.cards += card_seconds(s, work, s.machine->devices[static_cast<std::size_t>(card)]);
  }
}

/// Cards that share every matrix, in stages that follow each other, each reading what it holds; two
/// all-reduces a layer (Megatron-LM, arXiv:1909.08053), each moving 2 (n - 1) / n of the
/// activations. Replicas work at the same time and meet in the experts alone.
void add_tensor_split(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time) {
  const Weights& w = *s.weights;
  const double shards = static_cast<double>(plan.shards);
  const double together = static_cast<double>(plan.replicas);
  const double touched =
      experts_touched(w.model->profile, pass.tokens * together / pass.weight_reads);
  for (Size stage = 0; stage < plan.stages; ++stage) {
    const Size first = stage * plan.shards;
    const Range run = intersect(plan.layers_of(first), pass.layers);
    const Rank rank = plan.rank(first, *s.runtime);
    Work work = work_of(s, pass, run, plan.has_head(first));
    Divided held = w.shards.layers(run.first, run.last);
    const double experts =
        static_cast<double>(w.shards.experts_of_rank(held.experts, rank).count()) * touched;
    held.experts = Bytes(0);
    work.weight_bytes =
        pass.weight_reads * (static_cast<double>(w.shards.of_rank(held, rank).count()) + experts);
    if (plan.has_head(first)) work.weight_bytes += w.head_read / shards;
    work.flops /= shards;
    if (pass.prompt == 0)
      work.cache_bytes = kv_read(s, pass.cached, run.first, run.last, plan.shards);
    double slowest = 0;
    for (Size card = first; card < first + plan.shards; ++card)
      slowest = std::max(slowest,
                         card_seconds(s, work, s.machine->devices[static_cast<std::size_t>(card)]));
    time.cards += slowest;
    if (plan.partly_on_host)
      time.stream +=
          pass.weight_reads * static_cast<double>(held_back(s, plan, first).count()) / bus(s);
  }
  const double link = s.machine->card_link().value();
  const double activations = pass.tokens * static_cast<double>(w.model->shape.hidden_size) * 2.0;
  const double layers = static_cast<double>(pass.layers.size());
  if (plan.shards > 1)
    time.reduce = 2.0 * layers *
                  (s.runtime->reduce_latency_s.value * pass.weight_reads +
                   2.0 * (shards - 1) / shards * activations / link);
  // Tokens of all replicas are gathered before the experts and their outputs scattered after.
  if (plan.replicas > 1 && w.shards.experts > 0)
    time.reduce += 2.0 * layers *
                   (s.runtime->reduce_latency_s.value * pass.weight_reads +
                    (together - 1) * activations / link);
}

/// What is computed on the CPU, or copied to the card for it where a large batch makes that quicker
/// (llama.cpp ggml-backend op offload, batches of 32 tokens or more).
void add_on_host(const Scenario& s, const Plan& plan, const Pass& pass, const Work& work,
                 PassTime& time) {
  const double cpu = cpu_seconds(s, work);
  if (plan.computes_on_card && pass.tokens >= 32) {
    const double copies = work.weight_bytes / bus(s);
    const double card = card_seconds(s, work, s.machine->devices[0]);
    if (copies + card < cpu) {
      time.stream += copies;
      time.cards += card;
      return;
    }
  }
  time.cpu += cpu;
}

void add_offloaded(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time) {
  const Range off{std::min(plan.on_cpu.first, plan.on_disk.first),
                  std::max(plan.on_cpu.last, plan.on_disk.last)};
  const Work work = work_of(s, pass, off, plan.head == Where::cpu);
  const double from_disk = s.runtime->offload == Offload::stream || pass.weight_reads == 0
                               ? streamed_bytes(s, plan.on_disk, pass)
                               : work_of(s, pass, plan.on_disk, false).weight_bytes;
  if (from_disk > 0) time.disk = from_disk / disk(s);
  if (!plan.computes_on_card || s.runtime->offload != Offload::stream)
    return add_on_host(s, plan, pass, work, time);
  double streamed = streamed_bytes(s, plan.on_cpu, pass) + streamed_bytes(s, plan.on_disk, pass);
  if (plan.head == Where::cpu) streamed += s.weights->head_read;
  time.stream = streamed / bus(s);
  time.cards += card_seconds(s, work, s.machine->devices[0]);
}

/// Of layers on cards: tensors and caches that stay in host memory.
void add_left_on_host(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time) {
  if (plan.partly_on_host) add_on_host(s, plan, pass, host_work(s, pass, plan.on_cards), time);
  if (caches_on_cards(s) || pass.prompt > 0) return;
  Work attention;
  const Range run = intersect(plan.on_cards, pass.layers);
  attention.cache_bytes = kv_read(s, pass.cached, run.first, run.last);
  time.cpu += cpu_seconds(s, attention);
}

PassTime time_of(const Scenario& s, const Plan& plan, const Pass& pass) {
  PassTime time;
  if (s.runtime->split == Split::tensors)
    add_tensor_split(s, plan, pass, time);
  else
    add_layer_split(s, plan, pass, time);
  if (plan.on_cpu.size() + plan.on_disk.size() > 0 || plan.head == Where::cpu)
    add_offloaded(s, plan, pass, time);
  if (s.layer_split != nullptr) add_left_on_host(s, plan, pass, time);
  time.launches = static_cast<double>(pass.layers.size()) * s.runtime->layer_overhead_s.value *
                  pass.weight_reads;
  const double device = time.cards + time.cpu;
  time.total = time.stream + time.disk + time.reduce +
               (s.runtime->launch == Launch::overlapped ? std::max(device, time.launches)
                                                        : device + time.launches);
  return time;
}

}  // namespace

double experts_touched(const Profile& profile, double tokens) {
  const Routing r = profile.routing;
  if (r.experts <= 0 || r.used >= r.experts) return 1.0;
  const double share = static_cast<double>(r.used) / static_cast<double>(r.experts);
  if (tokens <= 1.0) return share;
  return 1.0 - std::pow(1.0 - share, tokens);
}

CachedTokens mean_tokens(const Scenario& s) {
  const Size half = (s.output_tokens + 1) / 2;
  if (s.weights->model->encoder_decoder) return {.self = half, .source = s.prompt_tokens};
  return {.self = s.prompt_tokens + half, .source = 0};
}

PassTime decode_step(const Scenario& s, const Plan& plan, CachedTokens tokens) {
  const Profile& profile = s.weights->model->profile;
  Pass pass;
  pass.tokens = pass.logit_rows = static_cast<double>(s.batch);
  pass.layers = {profile.first_decoding, static_cast<Size>(profile.layers.size())};
  pass.cached = tokens;
  return time_of(s, plan, pass);
}

PassTime prefill(const Scenario& s, const Plan& plan, Size prompt) {
  const Profile& profile = s.weights->model->profile;
  Pass pass;
  pass.tokens = static_cast<double>(s.batch) * static_cast<double>(prompt);
  pass.logit_rows = static_cast<double>(s.batch);
  const Size chunk = s.runtime->prefill_chunk;
  if (chunk > 0) pass.weight_reads = std::ceil(pass.tokens / static_cast<double>(chunk));
  const auto layers = static_cast<Size>(profile.layers.size());
  // A text prompt runs the decoder; an encoder's layers run instead where the prompt goes there.
  pass.layers = s.weights->model->encoder_decoder && profile.first_decoding > 0
                    ? Range{0, profile.first_decoding}
                    : Range{profile.first_decoding, layers};
  if (!profile.generative) pass.layers = {0, layers};
  pass.prompt = prompt;
  return time_of(s, plan, pass);
}

Seconds load_time(const Scenario& s, const Plan& plan) {
  const Weights& w = *s.weights;
  double read = static_cast<double>(w.total.count() - disk_use(s, plan).count());
  if (w.scheme->family == SchemeFamily::bitsandbytes)
    read = 2.0 * static_cast<double>(w.model->profile.parameters);
  double on_cards = 0;
  const CardUses uses(s, plan.shards);
  for (Size card = 0; card < plan.cards; ++card)
    on_cards += static_cast<double>(uses(plan, card).weights.count());
  const double share = s.runtime->load_bandwidth.value;
  double seconds =
      s.runtime->load_fixed_s.value + read / (share * s.machine->host.disk_read.value());
  if (on_cards > 0) seconds += on_cards / (share * s.machine->host_bus(0).value());
  return Seconds(seconds);
}

}  // namespace headroom::model
