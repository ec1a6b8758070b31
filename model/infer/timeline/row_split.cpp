// What a pass takes on cards that share the rows of each matrix.
#include <algorithm>
#include <vector>

#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/layer_split.hpp"
#include "model/infer/timeline/stretches.hpp"

namespace headroom::model {
namespace {

/// What the card that has a layer does of it alone: attention, where its caches are, activations,
/// and routed experts, which llama.cpp does not divide by rows; and what all cards share.
struct Parts {
  Work own, shared;
};
Parts parts_of(const Scenario& s, const Pass& pass, const LayerSpan& piece) {
  Parts parts;
  if (piece.content != Content::dense)
    parts.own = work_of(s, pass, {piece.layers, Content::experts});
  if (piece.content == Content::experts) return parts;
  const auto [all, attention] = layer_work(s, pass, {piece.layers, Content::dense});
  parts.shared = without(all, attention);
  if (caches_on_cards(s)) parts.own = parts.own + attention;
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

/// Inputs go to each other card with a byte and an eighth an element, results come back in fp32
/// (ggml-cuda.cu, ggml_cuda_op_mul_mat: block_q8_1, cudaMemcpyPeerAsync). Of every matrix one side
/// is as wide as the residual stream, half of them having it as input.
double moved_bytes(const Scenario& s, const Plan& plan, const Pass& pass, double matrices) {
  constexpr double input = 36.0 / 32, result = 4;
  const Profile& profile = s.weights->model->profile;
  const auto hidden = static_cast<double>(s.weights->model->shape.hidden_size);
  const Range run = intersect(plan.on_cards, pass.layers);
  const double elements =
      between(profile.multiplied_before, run) - between(profile.routed_before, run);
  const double sides = (matrices * hidden + elements / hidden) / 2;
  const auto others = static_cast<double>(plan.cards - 1);
  return pass.tokens * sides * (input * others + result * others / (others + 1));
}

}  // namespace

bool by_rows(const Scenario& s, const Plan& plan) {
  return s.layer_split != nullptr && s.layer_split->mode == SplitMode::row && plan.cards > 1 &&
         !plan.partly_on_host;
}

void add_row_split(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                   PassTime& time, Record* record) {
  const auto shares = card_shares(s);
  Work shared;
  std::vector<Item> items;
  double used = 0;
  bool head = false;
  for (Size card = 0; card < plan.cards; ++card) {
    const Rate& rate = speeds.card(card).rate;
    Work own;
    Stretch stretch{.over = Over::cards, .first = card, .last = card + 1, .rate = rate};
    for_pieces_on_card(plan, card, [&](const LayerSpan& all) {
      const Parts parts = parts_of(s, pass, all);
      own = own + parts.own;
      shared = shared + parts.shared;
      if (record == nullptr) return;
      for_layers(pass, all, [&](const LayerSpan& piece) {
        const Parts of_layer = parts_of(s, pass, piece);
        const double state = caches_on_cards(s) ? state_read(s, pass, piece) : 0;
        stretch.items.push_back({Item::Kind::layer, piece, of_layer.own, state});
        items.push_back({Item::Kind::layer, piece, of_layer.shared});
      });
    });
    head = head || plan.has_head(card);
    stretch.seconds = seconds(own, rate);
    time.cards += stretch.seconds;
    time.least += least_seconds(own, speeds.card(card));
    used += stretch.seconds > 0 ? 1 : 0;
    if (record != nullptr) record->push_back(std::move(stretch));
  }
  if (head) {
    shared = shared + head_work(s, pass);
    items.push_back({Item::Kind::head, {}, head_work(s, pass)});
  }
  Stretch all{.over = Over::cards, .last = plan.cards};
  double share = 0, least = 0;
  for (Size card = 0; card < plan.cards; ++card) {
    const double of_card = shares[static_cast<std::size_t>(card)];
    const Rate& rate = speeds.card(card).rate;
    const Work part = scaled(shared, of_card);
    const double taken = seconds(part, rate);
    least = std::max(least, least_seconds(part, speeds.card(card)));
    if (taken < all.seconds) continue;
    all.seconds = taken;
    all.rate = rate;
    share = of_card;
  }
  time.cards += all.seconds;
  time.least += least;
  add_crossings(s, std::max(0.0, used - 1), time, record);
  const Range run = intersect(plan.on_cards, pass.layers);
  const double matrices =
      static_cast<double>(between(s.weights->model->profile.matrices_before, run)) +
      (head && pass.logit_rows > 0 ? 1 : 0);
  const double moved = moved_bytes(s, plan, pass, matrices);
  const Speeds::Link& link = speeds.link(plan.cards);
  time.reduce = pass.weight_reads * matrices * link.start->value + moved / link.bytes_s;
  if (record == nullptr) return;
  for (Item& item : items) item.work = scaled(item.work, share);
  all.items = std::move(items);
  record->push_back(std::move(all));
  record->push_back(
      {.over = Over::reduce, .last = plan.cards, .seconds = time.reduce, .moved = moved});
}

}  // namespace headroom::model
