#include "model/speed.hpp"

#include <algorithm>
#include <cmath>

#include "model/assignment.hpp"
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

Work operator+(const Work& a, const Work& b) {
  return {a.weight_bytes + b.weight_bytes, a.cache_bytes + b.cache_bytes, a.flops + b.flops};
}

/// The roofline's ingredients of `piece` in `pass`.
Work work_of(const Scenario& s, const Pass& pass, const Piece& piece) {
  const Weights& w = *s.weights;
  const Profile& profile = w.model->profile;
  const Range run = intersect(piece.layers, pass.layers);
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
  work.weight_bytes =
      pass.weight_reads *
      (dense + routed * experts_touched(profile, pass.tokens / pass.weight_reads));
  work.flops = 2.0 * multiplied * pass.tokens;
  if (piece.content == Content::experts) return work;
  if (pass.prompt > 0) {
    work.flops += prefill_score_flops(s, pass.prompt, run.first, run.last);
  } else {
    work.cache_bytes = kv_read(s, pass.cached, run.first, run.last);
    work.flops += decode_score_flops(s, pass.cached, run.first, run.last);
  }
  return work;
}

Work head_work(const Scenario& s, const Pass& pass) {
  const Weights& w = *s.weights;
  return {.weight_bytes = w.head_read,
          .flops = 2.0 * static_cast<double>(w.model->profile.head_elements) * pass.logit_rows};
}

double seconds(const Rate& rate, const Work& work) {
  return std::max((work.weight_bytes + work.cache_bytes) / rate.bytes_s, work.flops / rate.flops_s);
}
double card_seconds(const Scenario& s, const Work& work, const Device& device) {
  return seconds(card_rate(s, device), work);
}
double cpu_seconds(const Scenario& s, const Work& work) { return seconds(cpu_rate(s), work); }

/// Bytes of `piece` that a streaming runtime moves: whole modules, all experts included.
double streamed_bytes(const Scenario& s, const Piece& piece, const Pass& pass) {
  return piece_bytes(*s.weights, {intersect(piece.layers, pass.layers), piece.content})
      .real()
      .value();
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
    Work work;
    for_pieces_on_card(plan, card,
                       [&](const Piece& piece) { work = work + work_of(s, pass, piece); });
    if (plan.has_head(card)) work = work + head_work(s, pass);
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
    Work work = work_of(s, pass, Piece{run});
    if (plan.has_head(first)) work = work + head_work(s, pass);
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
          pass.weight_reads * static_cast<double>(held_back(s, plan, first).count()) / bus_rate(s);
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
    const double copies = work.weight_bytes / bus_rate(s);
    const double card = card_seconds(s, work, s.machine->devices[0]);
    if (copies + card < cpu) {
      time.stream += copies;
      time.cards += card;
      return;
    }
  }
  time.cpu += cpu;
}

/// What is not on cards: computed on the CPU, or streamed through the first card module by module,
/// the embedding and the head like any other.
void add_offloaded(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time) {
  const bool streams = s.runtime->offload == Offload::stream;
  Work work;
  double moved = 0, from_disk = 0;
  for (const Where where : {Where::cpu, Where::disk}) {
    Work here;
    double modules = 0;
    for_pieces_in(plan, where, [&](const Piece& piece) {
      here = here + work_of(s, pass, piece);
      modules += streamed_bytes(s, piece, pass);
    });
    if (plan.head == where) {
      here = here + head_work(s, pass);
      modules += s.weights->head_read;
    }
    if (plan.embedding == where) modules += s.weights->embedding.real().value();
    if (where == Where::disk) from_disk = streams ? modules : here.weight_bytes;
    work = work + here;
    moved += modules;
  }
  if (from_disk > 0) time.disk = from_disk / disk_rate(s);
  if (!plan.computes_on_card || !streams) return add_on_host(s, plan, pass, work, time);
  time.stream = moved / bus_rate(s);
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

double launches(const Scenario& s, const Pass& pass) {
  return static_cast<double>(pass.layers.size()) * s.runtime->layer_overhead_s.value *
         pass.weight_reads;
}

PassTime time_of(const Scenario& s, const Plan& plan, const Pass& pass) {
  PassTime time;
  if (s.runtime->split == Split::tensors)
    add_tensor_split(s, plan, pass, time);
  else
    add_layer_split(s, plan, pass, time);
  if (plan.on_cpu.size() + plan.on_disk.size() > 0 || plan.head != Where::card ||
      (plan.embedding != Where::card && plan.stage_buffer > Bytes(0)))
    add_offloaded(s, plan, pass, time);
  if (s.layer_split != nullptr) add_left_on_host(s, plan, pass, time);
  time.launches = launches(s, pass);
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

Rate card_rate(const Scenario& s, const Device& device) {
  return {device.bandwidth.value() * s.runtime->decode_bandwidth.value,
          device.peak(s.weights->arithmetic).value() * s.runtime->prefill_compute.value};
}
Rate cpu_rate(const Scenario& s) {
  const Host& host = s.machine->host;
  return {host.ram_bandwidth.value() * s.runtime->cpu_bandwidth.value,
          host.cpu_peak.value() * s.runtime->cpu_compute.value};
}
double bus_rate(const Scenario& s) {
  return s.machine->host_bus(0).value() * s.runtime->stream_bandwidth.value;
}
double disk_rate(const Scenario& s) {
  return s.machine->host.disk_read.value() * s.runtime->disk_bandwidth.value;
}

namespace {

Pass decode_pass(const Scenario& s, CachedTokens tokens) {
  const Profile& profile = s.weights->model->profile;
  Pass pass;
  pass.tokens = pass.logit_rows = static_cast<double>(s.batch);
  pass.layers = {profile.first_decoding, static_cast<Size>(profile.layers.size())};
  pass.cached = tokens;
  return pass;
}

Pass prefill_pass(const Scenario& s, Size prompt) {
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
  return pass;
}

/// What is repeated for every output token, or done once where nothing is generated.
Pass step_pass(const Scenario& s) {
  if (!s.weights->model->profile.generative) return prefill_pass(s, s.prompt_tokens);
  return s.kv_cache ? decode_pass(s, mean_tokens(s)) : prefill_pass(s, mean_tokens(s).self);
}

}  // namespace

PassTime decode_step(const Scenario& s, const Plan& plan, CachedTokens tokens) {
  return time_of(s, plan, decode_pass(s, tokens));
}
PassTime prefill(const Scenario& s, const Plan& plan, Size prompt) {
  return time_of(s, plan, prefill_pass(s, prompt));
}
PassTime step(const Scenario& s, const Plan& plan) { return time_of(s, plan, step_pass(s)); }

Work step_work(const Scenario& s, const Piece& piece) { return work_of(s, step_pass(s), piece); }
Work step_head_work(const Scenario& s) { return head_work(s, step_pass(s)); }
double step_streamed_bytes(const Scenario& s, const Piece& piece) {
  return streamed_bytes(s, piece, step_pass(s));
}
double step_tokens(const Scenario& s) { return step_pass(s).tokens; }
double step_launches(const Scenario& s) { return launches(s, step_pass(s)); }

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
