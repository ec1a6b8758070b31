// Bytes on a card under a plan: weights, and the additions of the engine and its allocator.
#include "model/infer/placement/held.hpp"

#include <algorithm>
#include <cmath>

#include "model/infer/memory/driver_context.hpp"
#include "model/infer/memory/kv_cache.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/memory/static_share.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/layer_split.hpp"

namespace headroom::model {
Bytes tables_on_host(const Scenario& s) {
  return tables_on_host(s, {0, std::ssize(s.weights->layer)});
}

Bytes tables_on_host(const Scenario& s, Range layers) {
  if (!s.runtime->offload.tables_on_host || layers.size() <= 0) return Bytes(0);
  return s.weights->shards.rows(layers.first, layers.last);
}

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

/// Copies of the matrices that expand MLA's latent on a card.
Bytes latent_copies(const Scenario& s, const Plan& plan, Size card) {
  const LatentCopies copies = s.runtime->weights.latent_copies;
  if (copies == LatentCopies::none || !keeps_latents(s)) return Bytes(0);
  const Range range = plan.layers_of(card);
  const Divided layers = s.weights->shards.layers(range.first, range.last);
  const Bytes plain = copies == LatentCopies::all ? layers.expands_plain : Bytes(0);
  const Bytes all = layers.expands_packed + plain;
  return Bytes(divided_up(all.count(), plan.rank(card, *s.runtime).cards));
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
  if (plan.stage_of(card) == 0 && plan.embedding == Where::card)
    bytes += shards.of_rank(shards.embedding, rank);
  if (!plan.has_head(card)) return bytes;
  bytes += shards.head_of_rank(rank);
  if (!s.weights->model->profile.tied_head) return bytes;
  const Bytes tied = rounded_down(s.weights->head_read);
  // llama.cpp names a tied output like the embedding, which llama_meta_device_get_split_state does
  // not divide.
  if (plan.embedding != Where::card) return bytes + tied;
  // A tied head is on its own card only where all is one stage.
  return plan.stages > 1 ? bytes + shards.of_rank({.vocabulary = tied}, rank) : bytes;
}

/// Weights of a card with layers of its own. In row mode they include a part of every matrix.
Bytes layer_weights(const Scenario& s, const Plan& plan, Size card) {
  const QuantisedModel& w = *s.weights;
  const Range range = plan.layers_of(card);
  Bytes bytes = layer_bytes(w, range) - tables_on_host(s, range);
  if (card == plan.first_used_card) bytes += layer_bytes(w, plan.tower);
  if (card == 0 && plan.embedding == Where::card) bytes += w.embedding;
  const Bytes head =
      plan.head == Where::card ? head_bytes(s, plan.embedding == plan.head) : Bytes(0);
  if (plan.has_head(card)) bytes += head;
  if (!shares_rows(s)) return bytes;
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

/// Cards without the head make no logits; where no card has it, the first may be asked to.
Head head_on(const Scenario& s, const Plan& plan, Size card) {
  const bool other =
      (s.runtime->parallel.split == Split::layers || plan.stages > 1) && plan.head == Where::card;
  if (!other || plan.has_head(card)) return Head::here;
  return card == 0 ? Head::returned : Head::elsewhere;
}

}  // namespace

double rest_share(const Scenario& s) {
  const BlockRests::Sums& rests = s.weights->rests.per_tensor;
  if (s.runtime->weights.blocks == AllocatorBlocks::exact || s.weights->total <= Bytes(0)) return 0;
  return (rests.before.back() + rests.embedding + rests.head) / s.weights->total.real().value();
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

Bytes weights_kept_on_host(const Scenario& s, const Plan& plan) {
  Bytes bytes;
  if (plan.partly_on_host && plan.assignment == nullptr)
    for (Size card = 0; card < plan.cards; ++card) bytes += weights_kept_on_host(s, plan, card);
  return bytes;
}

namespace {

/// Bytes that rules put on `card` from layers of other cards, less those that they take from its
/// own layers (HostTensors::on_card_before).
Bytes moved_by_rules(const Scenario& s, const Plan& plan, Size card) {
  Bytes moved;
  if (s.layer_split == nullptr) return moved;
  const auto& lists = s.layer_split->on_host.on_card_before;
  const Range own = plan.layers_of(card);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const Bytes here = between(lists[i], own);
    moved += static_cast<Size>(i) == card ? lists[i].back() - here : Bytes(0) - here;
  }
  return moved;
}

}  // namespace

Bytes weights_on(const Scenario& s, const Plan& plan, Size card) {
  if (!is_used(plan, card)) return {};
  Bytes bytes = card == 0 ? plan.streaming_buffer : Bytes(0);
  if (plan.assignment != nullptr)
    bytes += assigned_weights(s, static_cast<Spot>(card));
  else
    bytes += s.runtime->parallel.split == Split::tensors ? rank_weights(s, plan, card)
                                                         : layer_weights(s, plan, card);
  if (plan.assignment == nullptr && plan.partly_on_host)
    bytes -= weights_kept_on_host(s, plan, card);
  bytes += moved_by_rules(s, plan, card);
  return s.draft == nullptr
             ? bytes
             : bytes + draft_on_card(s, plan.shards, card == plan.first_used_card).weights;
}

HeldBytes held_on(const Scenario& s, const Plan& plan, Size card) {
  Size layers = 0;
  for_pieces_on_card(plan, card, [&](const LayerSpan& piece) { layers += piece.layers.size(); });
  const Bytes weights = weights_on(s, plan, card);
  return {.weights = weights,
          .overhead =
              block_rests(s, plan, card) + rotary_tables(s, layers) + latent_copies(s, plan, card),
          .fused = fused_copies(s, plan, card),
          .context = driver_context(s, card) + process_on_card(s) + host_on_card(s) +
                     communication(s, plan, card),
          .host = std::min(host_beside_pass(s), weights),
          .head = head_on(s, plan, card)};
}

Bytes weights_on_host(const Scenario& s, const Plan& plan) {
  const Bytes draft = s.draft == nullptr ? Bytes(0) : draft_on_host(s, plan).weights;
  if (plan.assignment != nullptr) return assigned_weights(s, on_cpu) + draft;
  Bytes bytes = layer_bytes(*s.weights, plan.on_cpu);
  if (plan.embedding == Where::cpu) bytes += s.weights->embedding;
  if (plan.head == Where::cpu) bytes += head_bytes(s, plan.embedding == plan.head);
  // Layers in host memory and on disk have their tables with them.
  const bool divided = s.runtime->parallel.split == Split::tensors;
  bytes += divided ? tables_on_host(s) : tables_on_host(s, plan.on_cards);
  return bytes + weights_kept_on_host(s, plan) - plan.kept_on_disk + draft;
}

HostUse held_by_host(const Scenario& s, const Plan& plan) {
  HostUse use;
  use.weights = weights_on_host(s, plan);
  use.process = rounded_down(s.runtime->memory.host_bytes.value) - process_on_card(s);
  if (plan.assignment != nullptr || !s.runtime->weights.repacks_on_cpu) return use;
  const Bytes draft = s.draft == nullptr ? Bytes(0) : draft_on_host(s, plan).weights;
  use.process += use.weights - draft;
  return use;
}

}  // namespace headroom::model
