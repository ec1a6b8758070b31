#include "model/speed/speed.hpp"

#include <algorithm>
#include <cmath>

#include "model/memory/activation.hpp"
#include "model/memory/draft.hpp"
#include "model/placement/assignment.hpp"
#include "model/placement/layer_split.hpp"
#include "model/speed/pass.hpp"

namespace headroom::model {
namespace {

double card_seconds(const Scenario& s, const Work& work, const Device& device) {
  return seconds(s, work, card_rate(s, device));
}
/// What experts cost on a card says nothing of the CPU, whose rates are measured on experts.
double cpu_seconds(const Scenario& s, Work work) {
  work.expert_bytes = 0;
  return seconds(s, work, cpu_rate(s));
}

/// A card's queue holds 1024 launches (CUDA: a launch beyond blocks its thread): where a pass over
/// one card's layers has more, the thread feeds no other card meanwhile. Each of seven matrices
/// that is unpacked first takes one more kernel. Source: llama.cpp on 2 to 8 cards, May 2024:
/// chunks of Llama-3-70B in Q4_K_M follow each other with 13 layers a card and not with 20, in F16
/// with 20.
bool queue_holds(const Scenario& s, const Plan& plan) {
  constexpr Size queue = 1024, matrices = 7;
  const bool unpacked = width_of(*s.weights) != Width::sixteen;
  const Size kernels = s.runtime->layer_kernels + (unpacked ? matrices : 0);
  for (Size card = 0; card < plan.cards; ++card) {
    Size layers = 0;
    for_pieces_on_card(plan, card, [&](const Piece& piece) { layers += piece.layers.size(); });
    if (layers * kernels > queue) return false;
  }
  return true;
}

/// Cards that follow each other: each works through its own layers, without what stays on the host.
void add_layer_split(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time) {
  double slowest = 0;
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
    if (!caches_on_cards(s)) work.cache_bytes = work.repeated = 0;
    const double seconds =
        card_seconds(s, work, s.machine->devices[static_cast<std::size_t>(card)]);
    time.cards += seconds;
    slowest = std::max(slowest, seconds);
  }
  // Of n chunks that follow each other, the first takes the sum of the cards, each further one the
  // slowest card.
  const Size chunk = prefill_chunk(s);
  const bool causal = s.weights->model->profile.generative;  // others need the prompt in one piece
  if (pass.prompt == 0 || chunk == 0 || plan.cards < 2 || !causal || !queue_holds(s, plan)) return;
  const auto tokens = std::min(pass.tokens, static_cast<double>(s.runtime->pipelined_tokens));
  const double chunks = std::max(1.0, std::ceil(tokens / static_cast<double>(chunk)));
  time.cards = (time.cards + (chunks - 1) * slowest) / chunks;
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
    // Layers that run several times are alike.
    const double times =
        run.size() > 0 ? runs(s, pass) / static_cast<double>(pass.layers.size()) : 1;
    work.expert_bytes = pass.weight_reads * times * experts;
    work.weight_bytes =
        pass.weight_reads * times * static_cast<double>(w.shards.of_rank(held, rank).count()) +
        work.expert_bytes;
    if (plan.has_head(first) && pass.logit_rows > 0) work.weight_bytes += w.head_read / shards;
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
  const double link = s.machine->card_link(static_cast<std::size_t>(plan.shards)).value();
  const double across =
      s.machine->card_link(static_cast<std::size_t>(plan.shards * plan.replicas)).value();
  const double activations = pass.tokens * static_cast<double>(w.model->shape.hidden_size) * 2.0;
  const double layers = runs(s, pass);
  if (plan.shards > 1)
    time.reduce = 2.0 * layers *
                  (reduce_latency(s, plan.shards).value * pass.weight_reads +
                   2.0 * (shards - 1) / shards * activations / link);
  // Tokens of all replicas are gathered before the experts and their outputs scattered after.
  if (plan.replicas > 1 && w.shards.experts > 0)
    time.reduce += 2.0 * layers *
                   (reduce_latency(s, plan.shards * plan.replicas).value * pass.weight_reads +
                    (together - 1) * activations / across);
}

/// What is computed on the CPU, or copied to the card for it where a large batch makes that quicker
/// (llama.cpp ggml-backend op offload, batches of 32 tokens or more).
void add_on_host(const Scenario& s, const Pass& pass, const Work& work, PassTime& time) {
  const double cpu = cpu_seconds(s, work);
  const bool card = !s.machine->devices.empty() && card_budget(s, 0) > Bytes(0);
  if (s.runtime->copies_for_prefill && card && pass.tokens >= 32) {
    const double copies = work.weight_bytes / bus_rate(s);
    const double there = card_seconds(s, work, s.machine->devices[0]);
    if (copies + there < cpu) {
      time.stream += copies;
      time.cards += there;
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
      modules += streamed_bytes(s, pass, piece);
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
  if (!plan.computes_on_card || !streams) return add_on_host(s, pass, work, time);
  if (!caches_on_cards(s)) {
    moved += work.cache_bytes;
    work.cache_bytes = work.repeated = 0;
  }
  time.stream = moved / bus_rate(s);
  time.cards += card_seconds(s, work, s.machine->devices[0]);
}

/// Of layers on cards: tensors and caches that stay in host memory.
void add_left_on_host(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time) {
  if (plan.partly_on_host) add_on_host(s, pass, host_work(s, pass, plan.on_cards), time);
  if (caches_on_cards(s) || pass.prompt > 0) return;
  Work attention;
  const Range run = intersect(plan.on_cards, pass.layers);
  attention.cache_bytes = kv_read(s, pass.cached, run.first, run.last);
  if (s.runtime->offload == Offload::stream)  // caches are copied to the card like weights
    time.stream += attention.cache_bytes / bus_rate(s);
  else
    time.cpu += cpu_seconds(s, attention);
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
  // Kernels on a card run behind their launches; those on the CPU are what launches wait for.
  time.total = time.stream + time.disk + time.reduce + time.cpu +
               (s.runtime->launch == Launch::overlapped ? std::max(time.cards, time.launches)
                                                        : time.cards + time.launches);
  const bool eager =
      pass.prompt == 0 && s.runtime->graph_tokens > 0 && pass.cached.self > s.runtime->graph_tokens;
  if (eager) time.total = std::max(time.total, runs(s, pass) * s.runtime->eager_layer_s.value);
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
  return time_of(s, plan, decode_pass(s, tokens));
}
PassTime check_step(const Scenario& s, const Plan& plan, CachedTokens tokens, Size each) {
  Pass pass = decode_pass(s, tokens);
  pass.tokens *= static_cast<double>(each);
  pass.logit_rows *= static_cast<double>(each);
  return time_of(s, plan, pass);
}
PassTime prefill(const Scenario& s, const Plan& plan, Size prompt) {
  PassTime time = time_of(s, plan, prefill_pass(s, prompt));
  if (s.images.count == 0) return time;
  const PassTime tower = time_of(s, plan, tower_pass(s));
  for (const auto part : {&PassTime::cards, &PassTime::launches, &PassTime::stream, &PassTime::disk,
                          &PassTime::cpu, &PassTime::reduce, &PassTime::total})
    time.*part += tower.*part;
  return time;
}
PassTime step(const Scenario& s, const Plan& plan) { return time_of(s, plan, step_pass(s)); }

}  // namespace headroom::model
