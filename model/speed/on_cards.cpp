// What a pass takes on cards.
#include <algorithm>
#include <cmath>

#include "model/memory/activation.hpp"
#include "model/placement/layer_split.hpp"
#include "model/speed/stretches.hpp"

namespace headroom::model {
namespace {

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

/// What is done on the card of `piece`, without what stays on the host.
Work own_work(const Scenario& s, const Plan& plan, const Pass& pass, const Piece& piece) {
  Work work = work_of(s, pass, piece);
  if (plan.partly_on_host) {
    const Work host = host_work(s, pass, piece.layers);
    work.weight_bytes -= host.weight_bytes;
    work.flops -= host.flops;
  }
  if (!caches_on_cards(s)) work.cache_bytes = work.repeated = 0;
  return work;
}

}  // namespace

/// Cards that follow each other: each works through its own layers.
void add_layer_split(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time,
                     Record* record) {
  double slowest = 0;
  std::size_t slowest_stretch = 0;
  for (Size card = 0; card < plan.cards; ++card) {
    Work work;
    for_pieces_on_card(plan, card,
                       [&](const Piece& piece) { work = work + own_work(s, plan, pass, piece); });
    if (plan.has_head(card)) work = work + head_work(s, pass);
    const Rate rate = card_rate(s, s.machine->devices[static_cast<std::size_t>(card)]);
    const double taken = seconds(s, work, rate);
    time.cards += taken;
    if (record != nullptr) {
      if (taken > slowest) slowest_stretch = record->size();
      Stretch& stretch = record->emplace_back(Stretch{Over::cards, card, card + 1});
      for_pieces_on_card(plan, card, [&](const Piece& all) {
        for_layers(pass, all, [&](const Piece& piece) {
          const double state = caches_on_cards(s) ? state_read(s, pass, piece) : 0;
          stretch.items.push_back(
              {Item::Kind::layer, piece, own_work(s, plan, pass, piece), state});
        });
      });
      if (plan.has_head(card)) stretch.items.push_back({Item::Kind::head, {}, head_work(s, pass)});
      stretch.rate = rate;
      stretch.seconds = taken;
    }
    slowest = std::max(slowest, taken);
  }
  // Of n chunks that follow each other, the first takes the sum of the cards, each further one the
  // slowest card.
  const Size chunk = prefill_chunk(s);
  const bool causal = s.weights->model->profile.generative;  // others need the prompt in one piece
  if (pass.prompt == 0 || chunk == 0 || plan.cards < 2 || !causal || !queue_holds(s, plan)) return;
  const auto tokens = std::min(pass.tokens, static_cast<double>(s.runtime->pipelined_tokens));
  const double chunks = std::max(1.0, std::ceil(tokens / static_cast<double>(chunk)));
  time.cards = (time.cards + (chunks - 1) * slowest) / chunks;
  if (record == nullptr) return;
  for (Stretch& stretch : *record) stretch.seconds /= chunks;
  if (!record->empty()) (*record)[slowest_stretch].seconds += slowest * (chunks - 1) / chunks;
}

namespace {

/// What each card of a stage does of layers `run`, which it holds all of.
Work rank_work(const Scenario& s, const Plan& plan, const Pass& pass, Size first, Range run) {
  const Weights& w = *s.weights;
  const Rank rank = plan.rank(first, *s.runtime);
  const double touched = experts_touched(
      w.model->profile, pass.tokens * static_cast<double>(plan.sharing()) / pass.weight_reads,
      rank.expert_groups);
  Work work = work_of(s, pass, Piece{run});
  Divided held = w.shards.layers(run.first, run.last);
  const double experts =
      static_cast<double>(w.shards.experts_of_rank(held.experts, rank).count()) * touched;
  held.experts = Bytes(0);
  // Layers that run several times are alike.
  const double times = run.size() > 0 ? runs(s, pass) / static_cast<double>(pass.layers.size()) : 1;
  work.expert_bytes = pass.weight_reads * times * experts;
  work.weight_bytes =
      pass.weight_reads * times * static_cast<double>(w.shards.of_rank(held, rank).count()) +
      work.expert_bytes;
  work.flops /= static_cast<double>(plan.shards);
  if (pass.prompt == 0)
    work.cache_bytes = kv_read(s, pass.cached, run.first, run.last, plan.shards);
  return work;
}
/// The head, divided by so many cards.
Work rank_head(const Scenario& s, const Pass& pass, Size shards) {
  Work work = head_work(s, pass);
  work.weight_bytes /= static_cast<double>(shards);
  work.flops /= static_cast<double>(shards);
  return work;
}

}  // namespace

/// Cards that share every matrix, in stages that follow each other, each reading what it holds; two
/// all-reduces a layer (Megatron-LM, arXiv:1909.08053), each moving 2 (n - 1) / n of the
/// activations. Replicas work at the same time and meet in the experts alone, where the engine has
/// them share these: their tokens are gathered before and scattered after. With experts spread
/// whole, every card of a replica still has all its tokens, so that one all-reduce brings their
/// outputs together as it does those of divided experts (vLLM 0.19 all2all.py AgRsAll2AllManager;
/// SGLang 0.5 without --moe-a2a-backend), and the card with the most of the experts that are used
/// decides. Left out: back ends that send each token to its experts alone (DeepEP), and that some
/// experts get more of a prompt's tokens than others.
void add_tensor_split(const Scenario& s, const Plan& plan, const Pass& pass, PassTime& time,
                      Record* record) {
  const Weights& w = *s.weights;
  const double shards = static_cast<double>(plan.shards);
  const double together = static_cast<double>(plan.sharing());
  double held_on_host = 0;
  for (Size stage = 0; stage < plan.stages; ++stage) {
    const Size first = stage * plan.shards, last = first + plan.shards;
    const Range run = intersect(plan.layers_of(first), pass.layers);
    Work work = rank_work(s, plan, pass, first, run);
    if (plan.has_head(first)) work = work + rank_head(s, pass, plan.shards);
    double slowest = 0;
    Rate rate;
    for (Size card = first; card < last; ++card) {
      const Rate each = card_rate(s, s.machine->devices[static_cast<std::size_t>(card)]);
      const double taken = seconds(s, work, each);
      if (taken < slowest) continue;
      slowest = taken;
      rate = each;
    }
    time.cards += slowest;
    if (plan.partly_on_host)
      held_on_host += pass.weight_reads * static_cast<double>(held_back(s, plan, first).count());
    if (record == nullptr) continue;
    Stretch& stretch = record->emplace_back(Stretch{Over::cards, first, last});
    for_layers(pass, Piece{run}, [&](const Piece& piece) {
      stretch.items.push_back({Item::Kind::layer, piece,
                               rank_work(s, plan, pass, first, piece.layers),
                               state_read(s, pass, piece, plan.shards)});
    });
    if (plan.has_head(first))
      stretch.items.push_back({Item::Kind::head, {}, rank_head(s, pass, plan.shards)});
    stretch.rate = rate;
    stretch.seconds = slowest;
  }
  if (held_on_host > 0) {
    const double taken = held_on_host / bus_rate(s);
    time.stream += taken;
    if (record != nullptr)
      record->push_back({.over = Over::bus, .seconds = taken, .moved = held_on_host});
  }
  const double link = s.machine->card_link(static_cast<std::size_t>(plan.shards)).value();
  const Size meeting = plan.shards * plan.sharing();
  const double across = s.machine->card_link(static_cast<std::size_t>(meeting)).value();
  const double activations = pass.tokens * static_cast<double>(w.model->shape.hidden_size) * 2.0;
  const double layers = runs(s, pass);
  if (plan.shards > 1)
    time.reduce = 2.0 * layers *
                  (reduce_latency(s, plan.shards).value * pass.weight_reads +
                   2.0 * (shards - 1) / shards * activations / link);
  // Tokens of all replicas are gathered before the experts and their outputs scattered after.
  if (plan.shared_experts)
    time.reduce += 2.0 * layers *
                   (reduce_latency(s, meeting).value * pass.weight_reads +
                    (together - 1) * activations / across);
  if (record != nullptr && time.reduce > 0)
    record->push_back(
        {.over = Over::reduce,
         .last = meeting,
         .seconds = time.reduce,
         .moved = 2.0 * layers * activations * (2.0 * (shards - 1) / shards + together - 1)});
}

}  // namespace headroom::model
