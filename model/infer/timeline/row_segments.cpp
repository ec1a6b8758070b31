// Time of a pass on cards that share the rows of each matrix.
#include <algorithm>
#include <vector>

#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/timeline/segments.hpp"

namespace headroom::model {
namespace {

/// A layer's work. `own`: of the card that has it, which attends where its caches are, moves
/// activations and multiplies routed experts, which llama.cpp does not divide by rows. `shared`: of
/// all cards.
struct Parts {
  Work own, shared;
};
Parts parts_of(const Scenario& s, const Speeds& speeds, const Pass& pass, const LayerSpan& piece) {
  const auto work_of_part = [&](Content content) {
    return layer_work(s, speeds.attention, pass, speeds.sums(s, pass, {piece.layers, content}));
  };
  Parts parts;
  if (piece.content != Content::dense) parts.own = work_of_part(Content::experts).all;
  if (piece.content == Content::experts) return parts;
  const auto [all, attention] = work_of_part(Content::dense);
  parts.shared = without(all, attention);
  if (caches_on_cards(s)) parts.own += attention;
  parts.own.channels += parts.shared.channels;
  parts.shared.channels = 0;
  return parts;
}

Work scaled(Work work, double share) {
  work.weight_bytes *= share;
  work.packed_bytes *= share;
  work.flops *= share;
  return work;
}

/// Inputs go to each other card with a byte and an eighth an element. Results come back in fp32
/// (ggml-cuda.cu, ggml_cuda_op_mul_mat: block_q8_1, cudaMemcpyPeerAsync). One side of every matrix
/// is as wide as the residual stream; it is the input of half of them.
RealBytes moved_bytes(const Scenario& s, const Plan& plan, const Pass& pass, double matrices) {
  constexpr double input = 36.0 / 32, result = 4;
  const Profile& profile = s.weights->model->profile;
  const auto hidden = static_cast<double>(s.weights->model->shape.hidden_size);
  const Range run = intersect(plan.on_cards, pass.layers);
  const double elements =
      between(profile.multiplied_before, run) - between(profile.routed_before, run);
  const double sides = (matrices * hidden + elements / hidden) / 2;
  const auto others = static_cast<double>(plan.cards - 1);
  return RealBytes(pass.tokens * sides * (input * others + result * others / (others + 1)));
}

/// Work of a card alone, in the layers that it has. Returns its seconds.
Seconds add_own(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                Size card, Timeline& time) {
  Work work;
  for_pieces_on_card(plan, card,
                     [&](const LayerSpan& all) { work += parts_of(s, speeds, pass, all).own; });
  const Throughput& rate = speeds.card(card).rate;
  const Seconds own = seconds(work, rate);
  time.least += min_seconds(work, speeds.card(card));
  const auto segment = [&] {
    return Segment{.first_card = card, .last_card = card + 1, .work = work, .rate = rate};
  };
  time.add(Resource::cards, own, segment, [&](std::vector<LayerItem>& items) {
    for_pieces_on_card(plan, card, [&](const LayerSpan& all) {
      for_layers(pass, all, [&](const LayerSpan& piece) {
        items.push_back(
            {LayerItem::Kind::layer, piece, parts_of(s, speeds, pass, piece).own,
             caches_on_cards(s) ? state_read(s, pass, speeds.sums(s, pass, piece)) : RealBytes()});
      });
    });
  });
  return own;
}

/// Matrices that all cards multiply by their rows: the slowest card decides.
void add_shared(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                bool head, Timeline& time) {
  Work shared;
  for (Size card = 0; card < plan.cards; ++card)
    for_pieces_on_card(
        plan, card, [&](const LayerSpan& all) { shared += parts_of(s, speeds, pass, all).shared; });
  if (head) shared += head_work(s, pass);
  const auto shares = card_shares(s);
  Segment segment{.last_card = plan.cards};
  double share = 0;
  Seconds least;
  for (Size card = 0; card < plan.cards; ++card) {
    const double of_card = shares[static_cast<std::size_t>(card)];
    const Work part = scaled(shared, of_card);
    const Seconds taken = seconds(part, speeds.card(card).rate);
    least = std::max(least, min_seconds(part, speeds.card(card)));
    if (taken < segment.seconds) continue;
    segment.seconds = taken;
    segment.rate = speeds.card(card).rate;
    segment.work = part;
    share = of_card;
  }
  time.least += least;
  time.add(
      Resource::cards, segment.seconds, [&] { return segment; },
      [&](std::vector<LayerItem>& items) {
        for (Size card = 0; card < plan.cards; ++card)
          for_pieces_on_card(plan, card, [&](const LayerSpan& all) {
            for_layers(pass, all, [&](const LayerSpan& piece) {
              items.push_back({LayerItem::Kind::layer, piece,
                               scaled(parts_of(s, speeds, pass, piece).shared, share)});
            });
          });
        if (head) items.push_back({LayerItem::Kind::head, {}, scaled(head_work(s, pass), share)});
      });
}

}  // namespace

bool by_rows(const Scenario& s, const Plan& plan) {
  return shares_rows(s) && plan.cards > 1 && !plan.partly_on_host;
}

void add_row_split(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                   Timeline& time) {
  bool head = false;
  Size used = 0;
  for (Size card = 0; card < plan.cards; ++card) {
    head = head || plan.has_head(card);
    used += add_own(s, speeds, plan, pass, card, time) > Seconds() ? 1 : 0;
  }
  add_shared(s, speeds, plan, pass, head, time);
  add_handoffs(s, std::max(0.0, static_cast<double>(used) - 1), time);
  const Range run = intersect(plan.on_cards, pass.layers);
  const double matrices =
      static_cast<double>(between(s.weights->model->profile.matrices_before, run)) +
      (head && pass.logit_rows > 0 ? 1 : 0);
  const RealBytes moved = moved_bytes(s, plan, pass, matrices);
  Speeds::Link link = speeds.link(plan.cards);
  // The host starts each copy, whether cards read each other's memory or not.
  if (link.path == LinkPath::host_memory) link.path = LinkPath::bus;
  const Seconds taken =
      pass.weight_reads * matrices * link.start_of(plan.cards) + moved / link.bytes_s;
  time.add(Resource::link, taken, [&] {
    return Segment{
        .last_card = plan.cards, .moved = moved, .kernels = pass.weight_reads * matrices};
  });
}

}  // namespace headroom::model
