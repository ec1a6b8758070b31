// Time of a pass on cards that share every matrix, in pipeline stages.
#include <algorithm>
#include <vector>

#include "model/infer/timeline/experts_touched.hpp"
#include "model/infer/timeline/segments.hpp"

namespace headroom::model {
namespace {

/// Work of each card of a stage with all of the layers of `of`.
Work rank_work(const Scenario& s, const AttentionRules& rules, const Plan& plan, const Pass& pass,
               const Speeds::RankSums& of) {
  const double touched =
      plan.sharing() == 1 && plan.expert_groups == 1
          ? pass.touched
          : experts_touched(s.weights->model->profile,
                            pass.tokens * static_cast<double>(plan.sharing()) / pass.weight_reads,
                            plan.expert_groups);
  Work work = divided_work(s, rules, pass, of.all);
  // Layers that run several times are alike.
  const double times =
      of.all.layers.size() > 0 ? runs(s, pass) / static_cast<double>(pass.layers.size()) : 1;
  work.expert_bytes = pass.weight_reads * times * (of.experts * touched);
  work.weight_bytes = pass.weight_reads * times * of.others + work.expert_bytes;
  work.flops /= static_cast<double>(plan.shards);
  work.attention_flops /= static_cast<double>(plan.shards);
  work.wave_quantisation_flops = work.attention_flops > Flops()
                                     ? work.attention_flops * idle_share(s, pass, plan.shards)
                                     : Flops();
  work.packed_bytes = unpacks_for(s, pass) ? work.weight_bytes : RealBytes();
  work.prefill_expert_bytes = pass.prompt > 0 ? work.expert_bytes : RealBytes();
  return work;
}
/// A card's part of the head. Cards that divide it over replicas have the tokens of all of them. A
/// tied head apart from the embedding is whole on each card, as in rank_weights().
Work rank_head(const Scenario& s, const Plan& plan, const Pass& pass) {
  Work work = head_work(s, pass);
  if (plan.embedding != Where::card && s.weights->model->profile.tied_head) return work;
  work.weight_bytes /= static_cast<double>(plan.head_shards());
  work.flops /= static_cast<double>(plan.shards);
  return work;
}

/// The cards of a stage work at once, and the slowest decides.
void add_stage(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
               Size stage, Timeline& time) {
  const Size first = stage * plan.shards, last = first + plan.shards;
  const bool has_head = plan.head == Where::card && stage + 1 == plan.stages;
  const AttentionRules& rules = speeds.divided_attention();
  const auto sums = [&](Range layers) { return speeds.rank_sums(s, plan, first, layers); };
  const Range held = plan.layers_in(stage);
  Work work = pass.layers == speeds.decoding
                  ? rank_work(s, rules, plan, pass, speeds.rank_sums(stage))
                  : rank_work(s, rules, plan, pass, sums(intersect(held, pass.layers)));
  if (has_head) work += rank_head(s, plan, pass);
  Seconds least, slowest;
  Size slowest_card = first;
  for (Size card = first; card < last; card = speeds.next_unlike[static_cast<std::size_t>(card)]) {
    least = std::max(least, min_seconds(work, speeds.card(card)));
    const Seconds taken = seconds(work, speeds.card(card).rate);
    if (taken < slowest) continue;
    slowest = taken;
    slowest_card = card;
  }
  time.least += least;
  const auto segment = [&] {
    const Throughput& rate = speeds.card(slowest_card).rate;
    return Segment{.first_card = first, .last_card = last, .work = work, .rate = rate};
  };
  time.add(Resource::cards, slowest, segment, [&](std::vector<LayerItem>& items) {
    for_layers(pass, LayerSpan{held}, [&](const LayerSpan& piece) {
      const Speeds::RankSums of = sums(piece.layers);
      items.push_back({LayerItem::Kind::layer, piece, rank_work(s, rules, plan, pass, of),
                       state_read(s, pass, of.all)});
    });
    if (has_head) items.push_back({LayerItem::Kind::head, {}, rank_head(s, plan, pass)});
  });
}

/// Tokens of all replicas that share experts are gathered before these, their outputs scattered
/// after. With stages the cards of one lie among those of the others, replica by replica (vLLM 0.19
/// distributed/parallel_state.py initialize_model_parallel), maybe in several boxes.
Seconds sharing_seconds(const Scenario& s, const Speeds& speeds, const Plan& plan,
                        const Pass& pass) {
  if (!plan.shared_experts) return Seconds();
  const Size meeting = plan.shards * plan.sharing();
  const Size apart = plan.cards - (plan.stages - 1) * plan.shards;
  const Speeds::Link& across = speeds.link(std::max(meeting, apart));
  const double others = static_cast<double>(plan.sharing()) - 1;
  return 2.0 * runs(s, pass) *
         (pass.weight_reads * across.start_of(meeting) +
          others * activation_bytes(s, pass) / across.bytes_s);
}

void add_exchanges(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                   Timeline& time) {
  Seconds taken;
  if (plan.shards > 1) taken = all_reduces(s, speeds.link(plan.shards), pass, plan.shards);
  taken += sharing_seconds(s, speeds, plan, pass);
  if (taken <= Seconds()) return;
  time.add(Resource::link, taken, [&] {
    const double shards = static_cast<double>(plan.shards), layers = runs(s, pass),
                 together = static_cast<double>(plan.sharing());
    return Segment{.last_card = plan.shards * plan.sharing(),
                   .moved = 2.0 * layers * activation_bytes(s, pass) *
                            (2.0 * (shards - 1) / shards + together - 1),
                   .kernels = 2 * layers};
  });
}

}  // namespace

/// Two all-reduces a layer (Megatron-LM, arXiv:1909.08053), each moving 2 (n - 1) / n of the
/// activations.
Seconds all_reduces(const Scenario& s, const Speeds::Link& link, const Pass& pass, Size cards) {
  const auto n = static_cast<double>(cards);
  return 2.0 * runs(s, pass) *
         (pass.weight_reads * link.start_of(cards) +
          2.0 * (n - 1) / n * activation_bytes(s, pass) / link.bytes_s);
}

/// Cards share every matrix, in stages that follow each other. Each card reads what it holds.
/// Replicas work at the same time. They meet in the experts alone, where the engine has them share
/// these. With expert parallelism, every card of a replica still has all its tokens. One all-reduce
/// combines their outputs, as with divided experts (vLLM 0.19 all2all.py AgRsAll2AllManager; SGLang
/// 0.5 without --moe-a2a-backend). The card with the most of the used experts decides. Left out:
/// back ends that send each token to its experts alone (DeepEP), and that some experts get more of
/// a prompt's tokens than others.
void add_tensor_split(const Scenario& s, const Speeds& speeds, const Plan& plan, const Pass& pass,
                      Timeline& time) {
  RealBytes on_host;
  for (Size stage = 0; stage < plan.stages; ++stage) {
    add_stage(s, speeds, plan, pass, stage, time);
    if (plan.partly_on_host)
      on_host += pass.weight_reads * weights_kept_on_host(s, plan, stage * plan.shards).real();
  }
  if (on_host > RealBytes())
    time.add(Resource::bus, on_host / speeds.bus, [&] { return Segment{.moved = on_host}; });
  add_exchanges(s, speeds, plan, pass, time);
}

}  // namespace headroom::model
