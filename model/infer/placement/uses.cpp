// Memory use of devices under a plan: weights, caches, activations and the engine's overhead.
#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "model/infer/memory/activation.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/layer_split.hpp"

namespace headroom::model {
namespace {

/// The padding that the engine's kernels need on this card.
ExpertPadding expert_padding(const Engine& runtime, const Device& device) {
  if (!device.compute_capability) return {};
  const double capability = device.compute_capability->number();
  for (const ExpertTiles& each : runtime.weights.expert_tiles)
    if (capability >= each.from && capability < each.before)
      return {each.inner_multiple, each.hidden_multiple, each.scales_twice};
  return {};
}

Rank rank_of(const Scenario& s, const Plan& plan, Size card) {
  Rank rank = plan.rank(card, *s.runtime);
  if (s.weights->shards.mxfp4_inner > 0)
    rank.padding = expert_padding(*s.runtime, s.machine->devices[static_cast<std::size_t>(card)]);
  return rank;
}

/// Overhead of PyTorch's allocator on the weights of a card.
Bytes block_rests(const Scenario& s, const Plan& plan, Size card) {
  if (s.runtime->weights.blocks == AllocatorBlocks::exact) return Bytes(0);
  const BlockRests& rests = s.weights->rests;
  const BlockRests::Sums& sums = s.runtime->weights.blocks == AllocatorBlocks::fused
                                     ? rests.fused_on(plan.shards)
                                     : rests.per_tensor;
  double rest = 0;
  for_pieces_on_card(plan, card,
                     [&](const LayerSpan& piece) { rest += between(sums.before, piece.layers); });
  const bool first =
      plan.assignment != nullptr ? plan.assignment->embedding == card : plan.stage_of(card) == 0;
  if (first && plan.embedding == Where::card) rest += sums.embedding;
  if (plan.has_head(card)) rest += sums.head;
  return rounded_down(std::ceil(rest));
}

/// Layers without tables that the engine leaves in host memory.
Divided without_host_tables(const Scenario& s, Range layers) {
  Divided all = s.weights->shards.layers(layers.first, layers.last);
  if (s.runtime->offload.tables_on_host) all.rows = Bytes(0);
  return all;
}

/// Weights of a card that shares each matrix with other cards.
Bytes rank_weights(const Scenario& s, const Plan& plan, Size card) {
  const Shards& shards = s.weights->shards;
  const Rank rank = rank_of(s, plan, card);
  const Range range = plan.layers_of(card);
  Bytes bytes = shards.of_rank(without_host_tables(s, range), rank);
  if (plan.stage_of(card) == 0) bytes += shards.of_rank(shards.embedding, rank);
  if (!plan.has_head(card)) return bytes;
  bytes += shards.of_rank(shards.head, rank);
  // A tied head is on its own card only where all is one stage.
  if (s.weights->model->profile.tied_head && plan.stages > 1)
    bytes += shards.of_rank({.vocabulary = rounded_down(s.weights->head_read)}, rank);
  return bytes;
}

/// Weights of a card with layers of its own. In row mode they include a part of every matrix.
Bytes layer_weights(const Scenario& s, const Plan& plan, Size card) {
  const QuantisedModel& w = *s.weights;
  const Range range = plan.layers_of(card);
  Bytes bytes = layer_bytes(w, range);
  if (card == plan.first_used_card) bytes += layer_bytes(w, plan.tower);
  if (card == 0 && plan.embedding == Where::card) bytes += w.embedding;
  const Bytes head =
      plan.head == Where::card ? head_bytes(s, plan.embedding == plan.head) : Bytes(0);
  if (plan.has_head(card)) bytes += head;
  if (s.layer_split == nullptr || s.layer_split->mode != SplitMode::row) return bytes;
  const auto matrices = [&](Range layers) {
    const Divided divided = w.shards.layers(layers.first, layers.last);
    return divided.split + divided.heads;
  };
  const Bytes own = matrices(range) + (plan.has_head(card) ? head : Bytes(0));
  const double all = static_cast<double>((matrices(plan.on_cards) + head).count());
  return bytes - own +
         rounded_down(std::ceil(all * card_shares(s)[static_cast<std::size_t>(card)]));
}

/// Temporary copies while the engine fuses matrices at start: q, k and v of every layer on the
/// card, and the experts of one layer. Source: AutoAWQ 0.1.6 utils/fused_utils.py fuse_qkv, and 0.2
/// models/mixtral.py; the originals go with the old model.
Bytes fused_copies(const Scenario& s, const Plan& plan, Size card) {
  if (!s.runtime->weights.fuses_at_start) return Bytes(0);
  const QuantisedModel& w = *s.weights;
  Bytes separate, experts;
  for_pieces_on_card(plan, card, [&](const LayerSpan& piece) {
    if (piece.content != Content::experts) separate += between(w.separate_before, piece.layers);
    if (piece.content == Content::dense) return;
    for (Size layer = piece.layers.first; layer < piece.layers.last; ++layer)
      experts = std::max(experts, between(w.experts_before, {layer, layer + 1}));
  });
  return separate + experts;
}

/// Buffers of all-reduce in the card's memory: where cards meet over the host's bus they are in the
/// host's (NCCL's SHM transport; logs of vLLM 0.7 on 2 and 16 such cards have 0.2 GiB in total
/// besides PyTorch's, those of cards with NVLink 1.4 to 2.1).
Bytes communication(const Scenario& s, const Plan& plan, Size card) {
  const Device& device = s.machine->devices[static_cast<std::size_t>(card)];
  if (plan.shards <= 1 || device.link.value() <= 0) return Bytes(0);
  return rounded_down(s.runtime->memory.communication_bytes.value);
}

/// Average overhead of the allocator's blocks for each byte of weights.
double rest_share(const Scenario& s) {
  const BlockRests::Sums& rests = s.weights->rests.per_tensor;
  if (s.runtime->weights.blocks == AllocatorBlocks::exact || s.weights->total <= Bytes(0)) return 0;
  return (rests.before.back() + rests.embedding + rests.head) / s.weights->total.real().value();
}

/// Few scenarios have one.
DraftUse draft_of(const Scenario& s, Size shards, bool first) {
  return s.draft == nullptr ? DraftUse() : draft_on_card(s, shards, first);
}
DraftUse draft_off_cards(const Scenario& s, const Plan& plan) {
  return s.draft == nullptr ? DraftUse() : draft_on_host(s, plan);
}

}  // namespace

Bytes tables_on_host(const Scenario& s) {
  return s.runtime->offload.tables_on_host ? s.weights->shards.before.back().rows : Bytes(0);
}

Bytes weights_kept_on_host(const Scenario& s, const Plan& plan, Size card) {
  const Range range = plan.layers_of(card);
  if (s.cpu_offload > Bytes(0)) {
    const Shards& shards = s.weights->shards;
    return std::min(s.cpu_offload,
                    shards.of_rank(without_host_tables(s, range), rank_of(s, plan, card)));
  }
  return kept_on_host(s, plan, range).bytes;
}

Uses::Uses(const Scenario& s, Size shards)
    : s_(s),
      shards_(shards),
      cache_(s, reserved_tokens(s), shards),
      all_caches_(cache_(0, std::ssize(s.weights->layer))),
      work_(s, shards),
      prompt_cache_(work_.grows() ? CacheBytes(s, prompt_tokens(s), shards) : CacheBytes()),
      taken_((1.0 + s.runtime->memory.fragmentation.value) * (1.0 + rest_share(s))) {
  const Bytes all = work_.grows() ? all_caches_ : Bytes(0);
  const Bytes prompts = work_.grows() ? prompt_cache_(0, std::ssize(s.weights->layer)) : Bytes(0);
  working_ = work_(all, std::max(all, prompts));
  overhead_ = working_ + rotary_tables(s, std::ssize(s.weights->layer));
}

const Uses& Uses::divided(Size shards) const {
  if (shards == shards_) return *this;
  for (const auto& other : divided_)
    if (other->shards() == shards) return *other;
  return *divided_.emplace_back(std::make_unique<Uses>(s_, shards));
}

/// True if the card before it is of one kind with it and has an equal part.
bool Uses::repeats(const Plan& plan, Size card) const {
  if (card % plan.shards == 0 || plan.expert_groups > 1) return false;
  const Device *at = &s_.machine->devices[static_cast<std::size_t>(card)], *before = at - 1;
  return at->compute_capability == before->compute_capability && at->link == before->link;
}

Bytes Uses::room(Size card, double factor) const {
  const Bytes budget = scaled(card_budget(s_, static_cast<std::size_t>(card)), factor);
  const Bytes left = budget - rounded_down(s_.runtime->memory.context_bytes.value);
  const DraftUse draft = draft_of(s_, 1, card == 0);
  return scaled(left, taken_) - overhead_ - workspace(s_, static_cast<std::size_t>(card)) -
         draft.weights - draft.kv_cache;
}

CardUse Uses::card(const Plan& plan, Size card) const {
  if (s_.runtime->parallel.split != Split::tensors) return held_on(plan, card);
  if (ranks_.empty()) ranks_.resize(static_cast<std::size_t>(plan.cards));
  std::optional<CardUse>& use = ranks_[static_cast<std::size_t>(card)];
  if (!use) use = repeats(plan, card) ? this->card(plan, card - 1) : held_on(plan, card);
  return *use;
}

Size Uses::cards_alike(const Plan& plan, Size card) const {
  Size last = card + 1;
  const bool repeated = s_.runtime->parallel.split == Split::tensors;
  while (repeated && last < plan.cards && repeats(plan, last)) ++last;
  return last - card;
}

Bytes Uses::weights(const Plan& plan, Size card) const {
  return s_.runtime->parallel.split == Split::tensors ? this->card(plan, card).weights
                                                      : weights_on(plan, card);
}

HostUse Uses::host(const Plan& plan) const {
  if (s_.runtime->parallel.split != Split::tensors) return held_by_host(plan);
  if (!host_) host_ = held_by_host(plan);
  return *host_;
}

Bytes Uses::weights_on(const Plan& plan, Size card) const {
  if (!is_used(plan, card)) return {};
  Bytes bytes = card == 0 ? plan.streaming_buffer : Bytes(0);
  if (plan.assignment != nullptr)
    bytes += resident_on_card(s_, plan, cache_, card).weights;
  else
    bytes += s_.runtime->parallel.split == Split::tensors ? rank_weights(s_, plan, card)
                                                          : layer_weights(s_, plan, card);
  if (plan.assignment == nullptr && plan.partly_on_host)
    bytes -= weights_kept_on_host(s_, plan, card);
  return bytes + draft_of(s_, shards_, card == plan.first_used_card).weights;
}

CardUse Uses::held_on(const Plan& plan, Size card) const {
  CardUse use;
  if (!is_used(plan, card)) return use;
  const auto caches = [&](const CacheBytes& cache) {
    return caches_on_card(s_, plan, cache, card);
  };
  use.weights = weights_on(plan, card);
  const Bytes own = caches(cache_);
  use.kv_cache = own + draft_of(s_, shards_, card == plan.first_used_card).kv_cache;
  Size layers = 0;
  for_pieces_on_card(plan, card, [&](const LayerSpan& piece) { layers += piece.layers.size(); });
  // Cards without the head make no logits; where no card has it, the first may be asked to.
  const bool other =
      (s_.runtime->parallel.split == Split::layers || plan.stages > 1) && plan.head == Where::card;
  const Head head = !other || plan.has_head(card) ? Head::here
                    : card == 0                   ? Head::returned
                                                  : Head::elsewhere;
  const Bytes prompts = work_.grows() ? caches(prompt_cache_) : own;
  use.overhead_weights = block_rests(s_, plan, card) + rotary_tables(s_, layers);
  use.activations = std::max(work_(own, prompts, head), fused_copies(s_, plan, card)) +
                    workspace(s_, static_cast<std::size_t>(card)) + use.overhead_weights;
  use.context =
      rounded_down(s_.runtime->memory.context_bytes.value) + communication(s_, plan, card);
  use.fragmentation =
      rounded_down(static_cast<double>((use.weights + use.kv_cache + use.activations).count()) *
                   s_.runtime->memory.fragmentation.value);
  return use;
}

Bytes Uses::host_weights(const Plan& plan) const {
  const Bytes draft = draft_off_cards(s_, plan).weights;
  if (plan.assignment != nullptr) return resident_on_host(s_, plan, cache_).weights + draft;
  Bytes bytes = layer_bytes(*s_.weights, plan.on_cpu);
  if (plan.embedding == Where::cpu) bytes += s_.weights->embedding;
  if (plan.head == Where::cpu) bytes += head_bytes(s_, plan.embedding == plan.head);
  bytes += tables_on_host(s_);
  if (plan.partly_on_host)
    for (Size card = 0; card < plan.cards; ++card) bytes += weights_kept_on_host(s_, plan, card);
  return bytes + draft;
}

HostUse Uses::held_by_host(const Plan& plan) const {
  HostUse use;
  use.weights = host_weights(plan);
  use.process = rounded_down(s_.runtime->memory.host_bytes.value);
  const bool experts = plan.partly_on_host && s_.runtime->offload.mode == Offload::compute;
  const bool computes =
      plan.streaming_buffer == Bytes(0) &&
      (plan.on_cpu.size() + plan.on_disk.size() > 0 || plan.head != Where::card || experts);
  if (computes) use.activations = work_.of_pass();
  const DraftUse draft = draft_off_cards(s_, plan);
  use.kv_cache = draft.kv_cache;
  if (plan.assignment != nullptr) {
    use.kv_cache += resident_on_host(s_, plan, cache_).caches;
    return use;
  }
  if (s_.runtime->weights.repacks_on_cpu) use.process += use.weights - draft.weights;
  if (!caches_on_cards(s_))
    use.kv_cache += plan.streaming_buffer > Bytes(0)
                        ? all_caches_
                        : cache_(plan.on_cards.first, plan.on_cards.last);
  if (computes)
    use.kv_cache +=
        cache_(plan.on_cpu.first, plan.on_cpu.last) + cache_(plan.on_disk.first, plan.on_disk.last);
  return use;
}

}  // namespace headroom::model
