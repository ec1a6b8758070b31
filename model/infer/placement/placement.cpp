#include "model/infer/placement/placement.hpp"

#include <algorithm>
#include <span>

#include "model/infer/memory/static_share.hpp"
#include "model/infer/placement/assignment.hpp"
#include "model/infer/placement/cache_room.hpp"
#include "model/infer/placement/draft_memory.hpp"
#include "model/infer/placement/outside_share.hpp"
#include "model/infer/placement/setup.hpp"
#include "model/infer/placement/split.hpp"
#include "model/infer/scenario/layer_split.hpp"

namespace headroom::model {

bool Plan::operator==(const Plan& o) const {
  return reason == o.reason && short_bytes == o.short_bytes && short_card == o.short_card &&
         on_cpu == o.on_cpu && on_disk == o.on_disk && kept_on_disk == o.kept_on_disk &&
         is_alike_on_cards(o);
}

bool Plan::is_alike_on_cards(const Plan& o) const {
  const auto with_layers = static_cast<std::size_t>(cards / (replicas * shards));
  return cards == o.cards && shards == o.shards && stages == o.stages && replicas == o.replicas &&
         shared_experts == o.shared_experts && shared_dense == o.shared_dense &&
         expert_groups == o.expert_groups && computes_on_card == o.computes_on_card &&
         on_cards == o.on_cards && tower == o.tower && embedding == o.embedding && head == o.head &&
         assignment == o.assignment && head_card == o.head_card &&
         first_used_card == o.first_used_card && partly_on_host == o.partly_on_host &&
         host_experts == o.host_experts && streaming_buffer == o.streaming_buffer &&
         (cards == 0 || assignment != nullptr ||
          std::ranges::equal(std::span(layer_boundaries).first(with_layers + 1),
                             std::span(o.layer_boundaries).first(with_layers + 1)));
}

Bytes own_budget(const Scenario& s, Bytes memory) {
  const MemoryPolicy& policy = s.runtime->memory;
  const auto part = [&](double share) { return rounded_down(share * real_count(memory)); };
  if (s.gpu_share > 0) return has_static_pool(s) ? memory : part(s.gpu_share);
  // An engine that is told how many layers go to cards leaves no margin.
  if (s.layer_split != nullptr && s.layer_split->gpu_layers >= 0) return part(policy.utilization);
  // The quantiser of weights that are never divided has its own margin, of weights alone.
  const double margin = never_splits_weights(s) ? 0 : policy.margin_share;
  const Bytes own = part(policy.utilization - margin) - Bytes(policy.margin_bytes);
  return std::max(Bytes(0), std::min(own, largest_share(s, memory, surely)));
}

Bytes largest_own_budget(const Scenario& s) {
  Bytes most;
  for (const Device& card : s.machine->devices)
    most = std::max(most, own_budget(s, usable_memory(card)));
  return most;
}

Bytes card_budget_within(Bytes asked, Bytes own, Bytes most, Bytes largest_own) {
  if (asked == unlimited) return own;
  return std::min({asked, own + std::max(Bytes(0), asked - largest_own), most});
}

Bytes card_budget(const Scenario& s, std::size_t card) {
  const Bytes memory = usable_memory(s.machine->devices[card]), own = own_budget(s, memory);
  if (s.gpu_budget == unlimited) return own;
  return card_budget_within(s.gpu_budget, own, largest_share(s, memory, 1.0),
                            largest_own_budget(s));
}

Bytes CardUse::pooled_caches(const Engine& engine) const {
  if (state_slots == Bytes(0)) return kv_cache;
  const double ratio = engine.memory.pool.state_ratio;
  return rounded_down((1 + ratio) * std::max(real_count(growing), real_count(state_slots) / ratio));
}

Bytes CardUse::pooled_weights(const Engine& engine) const {
  return weights + rounded_down(engine.memory.fragmentation.value * real_count(weights));
}

Bytes pool_of_caches(const Scenario& s, const Plan& plan, const CardUse& use, Bytes memory,
                     double factor) {
  const Bytes pool = static_pool(s, plan.grid(), memory, use.context);
  return limit_at(pool, use.context, factor) - use.pooled_weights(*s.runtime);
}

Bytes over_pool(const Scenario& s, const Plan& plan, const CardUse& use, Bytes memory,
                double factor) {
  if (!has_static_pool(s)) return Bytes(0) - unlimited;
  return use.pooled_caches(*s.runtime) - pool_of_caches(s, plan, use, memory, factor);
}

Bytes over_limits(const Uses& uses, const Plan& plan, Size card, Limits of, double factor) {
  const Scenario& s = uses.scenario();
  const CardUse& use = uses.card(plan, card);
  Bytes caches = std::max(use.kv_cache, pages_of_states(uses, card));
  Bytes over = missing_beside(s, plan, of, use.activations, factor);
  if (has_static_pool(s)) {
    CardUse with_pages = use;
    with_pages.kv_cache = caches;
    over = std::max(over, over_pool(s, plan, with_pages, of.memory, factor));
    // The pool is taken whole. The engine leaves beside it as much as it expects its work to take,
    // and at the high end that may be too little.
    if (s.gpu_budget == unlimited && factor > 1)
      caches = std::max(caches, pool_of_caches(s, plan, use, of.memory, 1.0));
  }
  const Bytes work = use.work();
  return std::max(use.weights + caches + work - limit_at(of.budget, work + use.host, factor), over);
}

Bytes over_budget(const Uses& uses, const Plan& plan, Size card, double factor) {
  const Scenario& s = uses.scenario();
  const Setup& setup = uses.setup();
  return over_limits(uses, plan, card, {setup.budget(s, card), setup.card(card).memory}, factor);
}

Bytes reserved_at_start(const Scenario& s, const Plan& plan, const CardUse& use, std::size_t card) {
  if (!s.runtime->memory.sets_aside()) return use.total();
  const Bytes budget = card_budget(s, card);
  if (!has_static_pool(s)) return budget;
  const Bytes caches = pool_of_caches(s, plan, use, usable_memory(s.machine->devices[card]), 1.0);
  return std::min(budget, use.total() + std::max(caches - use.kv_cache, Bytes(0)));
}

Bytes largest_card_budget(const Scenario& s) {
  Bytes most;
  for (std::size_t card = 0; card < s.machine->devices.size(); ++card)
    most = std::max(most, card_budget(s, card));
  return most;
}

Bytes piece_bytes(const QuantisedModel& weights, const LayerSpan& piece) {
  const Bytes all = layer_bytes(weights, piece.layers);
  if (piece.content == Content::whole) return all;
  const Bytes experts = between(weights.experts_before, piece.layers);
  return piece.content == Content::experts ? experts : all - experts;
}

bool is_used(const Plan& plan, Size card) {
  if (card < plan.first_used_card) return false;
  if (plan.assignment == nullptr || (card == 0 && plan.streaming_buffer > Bytes(0))) return true;
  return plan.assignment->uses(static_cast<Spot>(card));
}

Size cards_used(const Plan& plan) {
  if (plan.assignment == nullptr) return std::max<Size>(0, plan.cards - plan.first_used_card);
  Size used = 0;
  for (Size card = 0; card < plan.cards; ++card) used += is_used(plan, card) ? 1 : 0;
  return used;
}

bool never_splits_weights(const Scenario& s) {
  const auto& families = s.runtime->weights.never_split;
  return std::find(families.begin(), families.end(), s.weights->scheme->family) != families.end();
}

Bytes ram_limit(const Uses& uses, const Plan& plan, double factor) {
  const Scenario& s = uses.scenario();
  const Bytes process = rounded_down(s.runtime->memory.host_bytes.value);
  Bytes limit = limit_at(std::min(s.ram_budget, s.machine->host.ram), process, factor);
  if (s.machine->has_unified_memory())
    for (Size card = 0; card < plan.cards; ++card) limit -= uses.card(plan, card).total();
  return limit;
}

Bytes head_bytes(const Scenario& s, bool with_embedding) {
  const bool untied =
      s.runtime->weights.unties_fp8 && s.weights->scheme->family == SchemeFamily::fp8;
  const bool copied = s.weights->model->profile.tied_head && (!with_embedding || untied);
  return s.weights->head + (copied ? rounded_down(s.weights->head_read) : Bytes(0));
}

bool caches_on_cards(const Scenario& s) {
  return s.layer_split == nullptr || s.layer_split->cache_on_cards;
}

bool reads_disk(const Plan& plan) {
  return plan.on_disk.size() > 0 || plan.head == Where::disk || plan.embedding == Where::disk ||
         plan.kept_on_disk > Bytes(0);
}

Bytes disk_use(const Scenario& s, const Plan& plan) {
  if (plan.assignment != nullptr) return resident_on_disk(s);
  const Bytes head = plan.head == Where::disk ? head_bytes(s, false) : Bytes(0);
  return layer_bytes(*s.weights, plan.on_disk) + head + plan.kept_on_disk;
}

Bytes file_bytes(const Scenario& s) {
  const QuantisedModel& weights = *s.weights;
  return draft_bytes(s) +
         Bytes(static_cast<Size>((weights.of_files * weights.total.real()).value()));
}

namespace {

/// Bytes that the disk of each box lacks; not above 0: none. It holds all files, whatever part is
/// in memory later (llama.cpp llama-mmap.cpp maps whole files). Scenario::disk_budget limits only
/// what is left there.
Bytes missing_for_files(const Scenario& s) {
  const Host& host = s.machine->host;
  return host.disk == Bytes(0) ? Bytes(0) : host.boxes * file_bytes(s) - host.disk;
}

bool has_too_many_sequences(const Scenario& s) {
  const Size most = s.runtime->serving.most_sequences;
  return most > 0 && s.batch > most;
}

void need_files(const Scenario& s, Plan& plan) {
  if (!plan.feasible() && plan.reason != Reason::disk) return;
  const Bytes missing = missing_for_files(s);
  if (missing <= Bytes(0)) return;
  plan.reason = Reason::disk;
  plan.short_bytes = missing;
}

Plan placed(const Uses& uses, double memory_factor) {
  const Scenario& s = uses.scenario();
  if (has_too_many_sequences(s)) {
    Plan plan;
    plan.reason = Reason::too_many_sequences;
    return plan;
  }
  if (s.assignment != nullptr) return place_assigned(uses, memory_factor);
  if (s.runtime->parallel.split == Split::tensors) return split_tensors(uses, memory_factor);
  if (s.machine->host.boxes > 1) {  // one process, one box
    Plan plan;
    plan.reason = Reason::parallelism_unsupported;
    return plan;
  }
  return s.runtime->offload.mode == Offload::compute ? split_last_layers(uses, memory_factor)
                                                     : split_layers(uses, memory_factor);
}

}  // namespace

Plan place(const Uses& uses, double memory_factor) {
  Plan plan = placed(uses, memory_factor);
  need_files(uses.scenario(), plan);
  return plan;
}

Plan place_division(const Uses& uses) {
  const Scenario& s = uses.scenario();
  if (has_too_many_sequences(s)) return place(uses, 1.0);
  Plan plan = uses.setup().division();
  need_files(s, plan);
  return plan;
}

bool has_placement(const Uses& uses, double memory_factor) {
  const Scenario& s = uses.scenario();
  if (s.assignment != nullptr || s.runtime->parallel.split != Split::tensors)
    return place(uses, memory_factor).feasible();
  return !has_too_many_sequences(s) && holds_division(uses, memory_factor) &&
         missing_for_files(s) <= Bytes(0);
}

}  // namespace headroom::model
