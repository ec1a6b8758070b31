#include "model/infer/timeline/speeds.hpp"

#include <algorithm>

#include "model/engine/card_class.hpp"
#include "model/engine/measured_cards.hpp"

namespace headroom::model {

Speeds::Speeds(const Scenario& s)
    : attention(s),
      cpu(cpu_rate(s)),
      kernel_s(efficiency_of(s).kernel_s.value),
      launches_hide(launches_overlap(s)),
      chunk(s),
      decoding{s.weights->model->profile.first_decoding, s.weights->model->profile.end_decoding},
      decoding_kernels(headroom::model::kernels(s, decoding)) {
  if (s.machine->devices.empty()) return;
  const auto between = [&](Size together, Size meeting) {
    const ParallelPolicy& policy = s.runtime->parallel;
    const CardLink link = s.machine->card_link(static_cast<std::size_t>(together));
    const LinkPath path = reduce_path(*s.runtime, *s.machine, link.path, meeting);
    return Link{link.rate * policy.link_bandwidth.value,
                &reduce_latency(*s.runtime, *s.machine, path), path, s.runtime};
  };
  bus = bus_rate(s);
  pair = between(1, 2);
  inside = between(1, std::numeric_limits<Size>::max());
  if (s.machine->host.cards == 0) return;
  in_a_box = s.machine->host.cards;
  between_boxes = between(in_a_box + 1, in_a_box + 1);
}

/// True if measurements of the card's class hold for it. Cards of other makers have nothing in
/// common, so only their own count.
bool stands_for(const Scenario& s, const Device& card) {
  return card_class(card) != CardClass::other || card.vendor.empty() ||
         measured_times(*s.runtime, card, *s.weights).here > 0;
}

Speeds::RankSums Speeds::rank_sums(const Scenario& s, const Plan& plan, Size first,
                                   Range run) const {
  const Shards& shards = s.weights->shards;
  const Rank rank = plan.rank(first, *s.runtime);
  Divided held = shards.layers(run.first, run.last);
  const RealBytes experts =
      shards.uneven_experts(rank) * shards.experts_of_rank(held.experts, rank).real();
  held.experts = held.rows = Bytes(0);  // a token reads a few rows
  return {sums_of(s, *of_rank, run), shards.most_of_rank(held, rank), experts};
}

void Speeds::know(const Scenario& s, const Plan& plan) {
  const std::vector<Device>& devices = s.machine->devices;
  const auto count = static_cast<std::size_t>(std::max<Size>(1, plan.cards));
  const std::size_t most = std::min(devices.size(), count);
  for (std::size_t i = cards.size(); i < most; ++i) {
    const KernelEfficiency& rates = efficiency_on(s, devices[i]);
    const bool alike = stands_for(s, devices[i]);
    cards.push_back({card_rate(s, devices[i]), devices[i].bandwidth, product_peak(s, devices[i]),
                     alike && product_share(s, devices[i], rates).measurements > 0,
                     alike && rates.decode_bandwidth.measurements > 0});
  }
  if (next_unlike.size() < most) {
    next_unlike.resize(most);
    for (std::size_t i = most; i-- > 0;)
      next_unlike[i] =
          i + 1 < most && cards[i] == cards[i + 1] ? next_unlike[i + 1] : static_cast<Size>(i) + 1;
  }
  if (s.runtime->parallel.split != Split::tensors || !stages.empty()) return;
  of_rank.emplace(s, plan.shards);
  for (Size stage = 0; stage < plan.stages; ++stage) {
    const Size first = stage * plan.shards;
    stages.push_back(rank_sums(s, plan, first, intersect(plan.layers_of(first), decoding)));
  }
}

}  // namespace headroom::model
