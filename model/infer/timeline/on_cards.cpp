// What a pass takes on cards.
#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "model/infer/memory/activation.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/timeline/stretches.hpp"

namespace headroom::model {
namespace {

/// Seconds of a prompt's chunks through cards that follow each other, `taken` on each card by all
/// of them together. One thread launches the kernels of a chunk card by card, then those of the
/// next chunk; a card's queue holds 1024 of them (CUDA: a launch beyond blocks its thread). Until
/// what is before them in a full queue has run, neither the cards after it nor the next chunk get
/// any. Each of seven matrices that is unpacked first takes one more kernel. Source: llama.cpp
/// ggml-backend.cpp, ggml_backend_sched_compute_splits. All chunks take the mean of them; beyond 16
/// each takes as long as the mean of the last eight.
double through_cards(const Scenario& s, const Plan& plan, std::span<const double> taken,
                     double chunks) {
  constexpr double queue = 1024, matrices = 7;
  constexpr int most = 16;
  const bool unpacked = width_of(*s.weights) != Width::sixteen;
  const double kernels =
      static_cast<double>(s.runtime->kernels.layer_kernels) + (unpacked ? matrices : 0);
  const int simulated = static_cast<int>(std::min<double>(most, chunks));
  const std::size_t cards = taken.size();
  std::vector<double> layers(cards, 0.0);
  for (std::size_t card = 0; card < cards; ++card)
    for_pieces_on_card(plan, static_cast<Size>(card), [&](const LayerSpan& piece) {
      layers[card] += static_cast<double>(piece.layers.size());
    });
  std::vector<std::array<double, most>> starts(cards);
  double launched = 0, half_way = 0, end = 0;
  for (int chunk = 0; chunk < simulated; ++chunk) {
    double before = 0;  // when the chunk leaves the card before
    for (std::size_t card = 0; card < cards; ++card) {
      auto& start = starts[card];
      const double each = taken[card] / chunks, own = layers[card] * kernels;
      const auto at = static_cast<std::size_t>(chunk);
      start[at] = std::max(launched, before);
      if (chunk > 0) start[at] = std::max(start[at], start[at - 1] + each);
      before = start[at] + each;
      const double run = (chunk + 1) * own - queue;  // kernels that have to have run by then
      if (run <= 0 || own <= 0) continue;
      const double full = std::min(std::floor(run / own), static_cast<double>(chunk));
      launched =
          std::max(launched, start[static_cast<std::size_t>(full)] + (run / own - full) * each);
    }
    end = before;
    if (chunk == most / 2 - 1) half_way = end;
  }
  return end + (chunks - simulated) * (end - half_way) / (most - most / 2);
}

/// What is done on the card of `piece`, without what stays on the host.
Work own_work(const Scenario& s, const Plan& plan, const Pass& pass, const LayerSpan& piece) {
  auto [work, attention] = layer_work(s, pass, piece);
  if (plan.partly_on_host) {
    const Work host = host_work(s, pass, piece.layers);
    work.weight_bytes -= host.weight_bytes;
    work.expert_bytes -= host.expert_bytes;
    work.packed_bytes -= host.packed_bytes;
    work.prefill_expert_bytes -= host.prefill_expert_bytes;
    work.flops -= host.flops;
  }
  if (caches_on_cards(s)) return work;
  // An engine that computes host layers attends where the caches are; others copy them to the card.
  if (s.runtime->offload.mode == Offload::compute) return without(work, attention);
  work.cache_bytes = work.repeated = 0;
  return work;
}

/// Bytes of the activations of a pass, in 16 bit.
double activation_bytes(const Scenario& s, const Pass& pass) {
  return pass.tokens * static_cast<double>(s.weights->model->shape.hidden_size) * 2.0;
}

/// Two all-reduces a layer of cards that divide its matrices, seconds.
double all_reduces(const Scenario& s, const Speeds::Link& link, const Pass& pass, Size cards) {
  const auto n = static_cast<double>(cards);
  return 2.0 * runs(s, pass) *
         (link.start->value * pass.weight_reads +
          2.0 * (n - 1) / n * activation_bytes(s, pass) / link.bytes_s);
}

/// What the cards of `taken` would do one after the other, `all` of it together, those that have
/// work do at once: each an equal part, and the slowest decides.
void divide(const Scenario& s, const Speeds& speeds, const Plan& plan, Pass pass,
            std::span<const double> taken, const Work& all, PassTime& time, Record* record) {
  const Size used = std::ranges::count_if(taken, [](double seconds) { return seconds > 0; });
  const auto n = static_cast<double>(used);
  const double one_by_one = time.cards;
  time.cards = 0;
  for (std::size_t card = 0; card < taken.size(); ++card)
    if (taken[card] > 0)
      time.cards =
          std::max(time.cards, seconds(all, speeds.card(static_cast<Size>(card)).rate) / n);
  time.least /= n;
  pass.layers = intersect(plan.on_cards, pass.layers);
  time.reduce = all_reduces(s, speeds.link(used), pass, used);
  if (record == nullptr) return;
  for (Stretch& stretch : *record)
    if (stretch.over == Over::cards) stretch.seconds *= time.cards / one_by_one;
  record->push_back({.over = Over::reduce,
                     .last = used,
                     .seconds = time.reduce,
                     .moved = 4.0 * runs(s, pass) * (n - 1) / n * activation_bytes(s, pass)});
}

}  // namespace

/// Cards that follow each other: each works through its own layers.
void add_layer_split(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                     PassTime& time, Record* record) {
  boost::container::small_vector<double, 16> seconds_of(static_cast<std::size_t>(plan.cards));
  const std::span<double> taken(seconds_of);
  Work all;
  for (Size card = 0; card < plan.cards; ++card) {
    Work work;
    for_pieces_on_card(
        plan, card, [&](const LayerSpan& piece) { work = work + own_work(s, plan, pass, piece); });
    if (plan.has_head(card)) work = work + head_work(s, pass);
    all = all + work;
    time.least += least_seconds(work, speeds.card(card));
    const Rate& rate = speeds.card(card).rate;
    const double own = seconds(work, rate);
    taken[static_cast<std::size_t>(card)] = own;
    time.cards += own;
    if (record != nullptr) {
      Stretch& stretch = record->emplace_back(Stretch{Over::cards, card, card + 1});
      for_pieces_on_card(plan, card, [&](const LayerSpan& held) {
        for_layers(pass, held, [&](const LayerSpan& piece) {
          const double state = caches_on_cards(s) ? state_read(s, pass, piece) : 0;
          stretch.items.push_back(
              {Item::Kind::layer, piece, own_work(s, plan, pass, piece), state});
        });
      });
      if (plan.has_head(card)) stretch.items.push_back({Item::Kind::head, {}, head_work(s, pass)});
      stretch.rate = rate;
      stretch.seconds = own;
    }
  }
  const Size used = std::ranges::count_if(taken, [](double seconds) { return seconds > 0; });
  if (s.runtime->parallel.tensor_parallel_layers && used > 1)
    return divide(s, speeds, plan, pass, taken, all, time, record);
  add_crossings(s, static_cast<double>(std::max<Size>(used, 1) - 1), time, record);
  const bool causal = s.weights->model->profile.generative;  // others need the prompt in one piece
  if (pass.prompt == 0 || s.runtime->kernels.layer_kernels == 0 || pass.weight_reads < 2 ||
      plan.cards < 2 || !causal)
    return;
  const double one_by_one = time.cards;
  time.cards = through_cards(s, plan, taken, pass.weight_reads);
  time.least *= time.cards / one_by_one;
  if (record == nullptr) return;
  for (Stretch& stretch : *record)
    if (stretch.over == Over::cards) stretch.seconds *= time.cards / one_by_one;
}

namespace {

/// What each card of a stage does of layers `run`, which it holds all of.
Work rank_work(const Scenario& s, const Plan& plan, const Pass& pass, Size first, Range run) {
  const QuantisedModel& w = *s.weights;
  const Rank rank = plan.rank(first, *s.runtime);
  const double touched =
      plan.sharing() == 1 && rank.expert_groups == 1
          ? pass.touched
          : experts_touched(w.model->profile,
                            pass.tokens * static_cast<double>(plan.sharing()) / pass.weight_reads,
                            rank.expert_groups);
  Work work = work_of(s, pass, LayerSpan{run});
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
  work.attention_flops /= static_cast<double>(plan.shards);
  work.wave_quantisation_flops =
      work.attention_flops > 0 ? work.attention_flops * idle_share(s, pass, plan.shards) : 0;
  work.packed_bytes = pass.prompt > 0 ? work.weight_bytes : 0;
  work.prefill_expert_bytes = pass.prompt > 0 ? work.expert_bytes : 0;
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
void add_tensor_split(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                      PassTime& time, Record* record) {
  const double shards = static_cast<double>(plan.shards);
  const double together = static_cast<double>(plan.sharing());
  double held_on_host = 0;
  for (Size stage = 0; stage < plan.stages; ++stage) {
    const Size first = stage * plan.shards, last = first + plan.shards;
    const Range run = intersect(plan.layers_of(first), pass.layers);
    Work work = rank_work(s, plan, pass, first, run);
    if (plan.has_head(first)) work = work + rank_head(s, pass, plan.shards);
    double slowest = 0, least = 0;
    Rate rate;
    for (Size card = first; card < last; ++card) {
      if (card > first && speeds.repeats[static_cast<std::size_t>(card)]) continue;
      const Rate& each = speeds.card(card).rate;
      least = std::max(least, least_seconds(work, speeds.card(card)));
      const double taken = seconds(work, each);
      if (taken < slowest) continue;
      slowest = taken;
      rate = each;
    }
    time.cards += slowest;
    time.least += least;
    if (plan.partly_on_host)
      held_on_host += pass.weight_reads * static_cast<double>(held_back(s, plan, first).count());
    if (record == nullptr) continue;
    Stretch& stretch = record->emplace_back(Stretch{Over::cards, first, last});
    for_layers(pass, LayerSpan{run}, [&](const LayerSpan& piece) {
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
    const double taken = held_on_host / speeds.bus;
    time.stream += taken;
    if (record != nullptr)
      record->push_back({.over = Over::bus, .seconds = taken, .moved = held_on_host});
  }
  const Size meeting = plan.shards * plan.sharing();
  const Speeds::Link& across = speeds.link(meeting);
  const double activations = activation_bytes(s, pass);
  const double layers = runs(s, pass);
  if (plan.shards > 1) time.reduce = all_reduces(s, speeds.link(plan.shards), pass, plan.shards);
  // Tokens of all replicas are gathered before the experts and their outputs scattered after.
  if (plan.shared_experts)
    time.reduce +=
        2.0 * layers *
        (across.start->value * pass.weight_reads + (together - 1) * activations / across.bytes_s);
  if (record != nullptr && time.reduce > 0)
    record->push_back(
        {.over = Over::reduce,
         .last = meeting,
         .seconds = time.reduce,
         .moved = 2.0 * layers * activations * (2.0 * (shards - 1) / shards + together - 1)});
}

}  // namespace headroom::model
