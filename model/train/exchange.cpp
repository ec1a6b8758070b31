#include "model/train/exchange.hpp"

#include <algorithm>
#include <cmath>

#include "hardware/units.hpp"
#include "model/describe/layer_range.hpp"

namespace headroom::model {
namespace {

constexpr Seconds step_inside{3.4e-6}, step_between{14e-6};  ///< a ring's step

double share_of_ring(Size cards) { return real_count(cards - 1) / real_count(cards); }

/// Cards of the group in one box.
Size together(const Links& links, const Group& group) {
  if (links.box == 0) return group.cards;
  return std::clamp<Size>(links.box / group.stride, 1, group.cards);
}

}  // namespace

Links::Links(const Machine& machine)
    : box(machine.host.cards),
      inside(machine.card_link(1).rate),
      network(machine.host.network / real_count(std::max(1, machine.host.cards))) {}

BytesPerSecond ring_rate(const Links& links, const Group& group) {
  const Size here = together(links, group);
  const BytesPerSecond inside = links.inside;
  if (here == group.cards) return inside;
  const BytesPerSecond between = real_count(here) * links.network;
  return here > 1 ? std::min(inside, between) : between;
}

Seconds ring_seconds(const Links& links, const Group& group, RealBytes bytes) {
  if (group.cards <= 1) return {};
  const BytesPerSecond rate = ring_rate(links, group);
  return rate > BytesPerSecond() ? bytes * share_of_ring(group.cards) / rate : Seconds();
}

Seconds ring_latency(const Links& links, const Group& group) {
  if (group.cards <= 1) return {};
  const Size here = together(links, group);
  const Size boxes = divided_up(group.cards, here);
  return real_count(group.cards - boxes) * step_inside + real_count(boxes - 1) * step_between;
}

Seconds all_to_all_seconds(const Links& links, const Group& group, RealBytes bytes, double copies) {
  if (group.cards <= 1) return {};
  const double here = real_count(together(links, group)), boxes = real_count(group.cards) / here;
  const BytesPerSecond inside = links.inside, between = links.network;
  const Seconds near = inside > BytesPerSecond() ? bytes * (here - 1) / here / inside : Seconds();
  // Several copies for one box travel once.
  const double reached = (boxes - 1) * (1 - std::pow(1 - 1 / boxes, copies));
  return std::max(near, boxes > 1 ? bytes / copies * reached / between : Seconds());
}

namespace {

Sent ring(const Links& links, const Group& group, RealBytes bytes) {
  return {share_of_ring(group.cards) * bytes, ring_seconds(links, group, bytes)};
}
Sent all_to_all(const Links& links, const Group& group, RealBytes bytes, double copies) {
  return {share_of_ring(group.cards) * bytes, all_to_all_seconds(links, group, bytes, copies)};
}

/// Bytes of keys and values in 16 bit for one pass, on all cards that divide its sequences. Heads
/// are complete; a latent is expanded.
RealBytes key_bytes(const TrainingScenario& s, const Stage& stage) {
  const double tokens = real_count(s.batch) * real_count(s.sequence),
               tensor = real_count(s.parallel.tensor);
  double elements = 0;
  for (const CacheClass& cache : s.model->profile.caches) {
    const bool latent = cache.kind == CacheKind::latent;
    const std::vector<Size>& sums = latent ? cache.expanded_before : cache.per_token_before;
    const double heads = latent ? tensor : real_count(std::max<Size>(1, cache.kv_heads));
    elements += real_count(between(sums, {stage.first, stage.last})) / std::min(tensor, heads);
  }
  return RealBytes(2 * tokens * elements);
}

}  // namespace

Exchange exchange_of(const TrainingScenario& s, const StageShape& stage, const TrainingEstimate& e,
                     const Carried& carried, const Machine& machine) {
  const Parallelism& p = s.parallel;
  const RealBytes row(carried.tokens * real_count(s.model->shape.hidden_size) * 2);
  const double there_and_back = 4 + 2 * carried.again;
  const double layers = real_count(carried.stage.last - carried.stage.first);
  const Group matrices{p.tensor, 1}, alike{p.alike(), p.tensor};
  const Group experts{p.experts, p.tensor},
      same_experts{p.alike() / p.experts, p.tensor * p.experts};
  const Links links(machine);
  Exchange x;

  // Two reductions a layer in forward and two in backward. Each moves its data twice.
  x.matrices = layers * there_and_back * 2 * ring(links, matrices, row);
  x.latency += layers * there_and_back * ring_latency(links, matrices);
  // To the experts and back. Each card sends its share of the tokens.
  const RealBytes routed(2 * carried.routed / (p.sequence ? real_count(p.tensor) : 1));
  x.experts = there_and_back * all_to_all(links, experts, routed,
                                          std::max(1.0, real_count(s.model->profile.routing.used)));
  if (p.stages > 1) {
    const Group stages{p.stages, p.tensor * p.alike()};
    const bool near = together(links, stages) == p.stages;
    const BytesPerSecond rate = near ? links.inside : links.network;
    const RealBytes sent = 2 * real_count(p.chunks) * row / real_count(p.tensor);
    if (rate > BytesPerSecond()) x.stages = {sent, sent / rate};
  }

  // Once in forward (and in recomputation), and back with the gradients (TransformerEngine
  // attention/dot_product_attention/context_parallel.py, AttnFuncWithCPAndKVP2P).
  if (p.context > 1)
    x.keys = (3 + carried.attention_again) *
             ring(links, {p.context, p.tensor}, key_bytes(s, carried.stage));

  // Weights shared by data-parallel cards are gathered in the compute type and reduced as
  // gradients.
  const double gradient =
      real_count(s.adapter != nullptr ? s.runtime->adapter_bytes : s.recipe->gradient);
  const double weight = std::min<double>(2, real_count(s.recipe->weight));
  const auto both = [&](double dense, double routed_elements) {
    return ring(links, alike, RealBytes(dense)) +
           ring(links, same_experts, RealBytes(routed_elements));
  };
  const double dense = real_count(stage.elements.dense),
               of_experts = real_count(stage.elements.experts);
  const Sent trained = s.adapter != nullptr ? both(real_count(e.trained) / real_count(p.tensor), 0)
                                            : both(dense, of_experts);
  if (s.zero >= 3) {  // gathered for forward and for backward
    x.in_each_pass = true;
    x.weights = 2 * (s.adapter != nullptr
                         ? both(real_count(stage.base.dense), real_count(stage.base.experts))
                         : weight * trained);
    x.gradients = gradient * trained;
    x.latency += 3 * layers * ring_latency(links, alike);
  } else {
    x.gradients = (s.zero > 0 ? 1 : 2) * gradient * trained;
    if (s.zero > 0) x.weights = weight * trained;
  }
  return x;
}

}  // namespace headroom::model
