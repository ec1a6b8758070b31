// Time of a pass on cards that work one after the other.
#include <algorithm>
#include <array>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <span>
#include <vector>

#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/timeline/segments.hpp"

namespace headroom::model {
namespace {

/// Seconds of a prompt's chunks through cards that follow each other. `taken`: on each card by all
/// chunks together. One thread launches the kernels of a chunk card by card, then those of the next
/// chunk. A card's queue holds 1024 of them (CUDA: a launch beyond blocks its thread). While a
/// queue is full, neither the cards after it nor the next chunk get any. Each of seven matrices
/// that is unpacked first takes one more kernel. Source: llama.cpp ggml-backend.cpp,
/// ggml_backend_sched_compute_splits. All chunks take the mean of them; beyond 16, each takes as
/// long as the mean of the last eight.
Seconds through_cards(const Scenario& s, const Plan& plan, std::span<const Seconds> taken,
                      double chunks) {
  constexpr double queue = 1024, matrices = 7;
  constexpr int most = 16, half = most / 2;
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
      const double each = taken[card].value() / chunks, own = layers[card] * kernels;
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
    if (chunk == half - 1) half_way = end;
  }
  return Seconds(end + (chunks - simulated) * (end - half_way) / (most - half));
}

/// Work on the card of `piece`, without what stays on the host.
LayerWork own_work(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                   const LayerSpan& piece) {
  LayerWork own = layer_work(s, speeds.attention, pass, speeds.sums(s, pass, piece));
  Work& work = own.all;
  if (plan.partly_on_host) {
    const Work host = host_work(s, plan, pass, piece.layers);
    work.weight_bytes -= host.weight_bytes;
    work.expert_bytes -= host.expert_bytes;
    work.packed_bytes -= host.packed_bytes;
    work.prefill_expert_bytes -= host.prefill_expert_bytes;
    work.flops -= host.flops;
  }
  if (caches_on_cards(s)) return own;
  // An engine that computes host layers attends where the caches are. Others copy them to the card.
  if (s.runtime->offload.mode == Offload::compute)
    work = without(work, own.attention);
  else
    work.cache_bytes = work.kv_repeat_bytes = RealBytes();
  return own;
}

/// Seconds on each card, and the work of all.
struct OnCards {
  explicit OnCards(Size cards) : taken(static_cast<std::size_t>(cards)) {}
  Size used() const {
    return std::ranges::count_if(taken, [](Seconds each) { return each > Seconds(); });
  }
  boost::container::small_vector<Seconds, 16> taken;
  Work all;  ///< if there are several
};

OnCards add_each_card(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                      Timeline& time) {
  OnCards cards(plan.cards);
  for (Size card = 0; card < plan.cards; ++card) {
    Work work;
    for_pieces_on_card(plan, card, [&](const LayerSpan& piece) {
      work += own_work(s, speeds, plan, pass, piece).all;
    });
    if (plan.has_head(card)) add_head_work(s, pass, work);
    if (plan.cards > 1) cards.all += work;
    time.least += min_seconds(work, speeds.card(card));
    const Throughput& rate = speeds.card(card).rate;
    const Seconds own = seconds(work, rate);
    cards.taken[static_cast<std::size_t>(card)] = own;
    const auto segment = [&] {
      return Segment{.first_card = card, .last_card = card + 1, .work = work, .rate = rate};
    };
    time.add(Resource::cards, own, segment, [&](std::vector<LayerItem>& items) {
      for_pieces_on_card(plan, card, [&](const LayerSpan& held) {
        for_layers(pass, held, [&](const LayerSpan& piece) {
          items.push_back({LayerItem::Kind::layer, piece,
                           own_work(s, speeds, plan, pass, piece).all,
                           caches_on_cards(s) ? state_read(s, pass, speeds.sums(s, pass, piece))
                                              : RealBytes()});
        });
      });
      if (plan.has_head(card)) items.push_back({LayerItem::Kind::head, {}, head_work(s, pass)});
    });
  }
  return cards;
}

/// Cards with layers also divide the matrices: those that have work do it at once, each an equal
/// part of all, and the slowest decides.
void divide(const Scenario& s, const Speeds& speeds, const Plan& plan, Pass pass,
            const OnCards& cards, Timeline& time) {
  const Size used = cards.used();
  const auto n = static_cast<double>(used);
  Seconds slowest;
  for (std::size_t card = 0; card < cards.taken.size(); ++card)
    if (cards.taken[card] > Seconds())
      slowest =
          std::max(slowest, seconds(cards.all, speeds.card(static_cast<Size>(card)).rate) / n);
  time.overlap_cards(slowest);
  time.least /= n;
  pass.layers = intersect(plan.on_cards, pass.layers);
  time.add(Resource::link, all_reduces(s, speeds.link(used), pass, used), [&] {
    return Segment{.last_card = used,
                   .moved = 4.0 * runs(s, pass) * (n - 1) / n * activation_bytes(s, pass),
                   .kernels = 2 * runs(s, pass)};
  });
}

/// True if chunks of a prompt follow each other through the cards. Models that are not causal need
/// the prompt in one piece.
bool follow_each_other(const Scenario& s, const Plan& plan, const Pass& pass) {
  return pass.prompt > 0 && s.runtime->kernels.layer_kernels > 0 && pass.weight_reads >= 2 &&
         plan.cards >= 2 && s.weights->model->profile.generative;
}

}  // namespace

void add_layer_split(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                     Timeline& time) {
  const OnCards cards = add_each_card(s, speeds, plan, pass, time);
  const Size used = cards.used();
  if (s.runtime->parallel.tensor_parallel_layers && used > 1)
    return divide(s, speeds, plan, pass, cards, time);
  add_handoffs(s, static_cast<double>(std::max<Size>(used, 1) - 1), time);
  if (!follow_each_other(s, plan, pass)) return;
  const Seconds one_by_one = time.of(Resource::cards);
  const Seconds taken = through_cards(s, plan, cards.taken, pass.weight_reads);
  time.least *= taken / one_by_one;
  time.overlap_cards(taken);
}

}  // namespace headroom::model
