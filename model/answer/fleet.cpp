#include "model/answer/fleet.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <ranges>
#include <tuple>

#include "hardware/units.hpp"
#include "model/infer/demand.hpp"

namespace headroom::model {
namespace {

constexpr Size max_copies = 1'000'000;

/// `machine` cut down to a part of each of its cards' strength: one card of it.
MachineShare part_of_a_card(const Machine& machine, Size divisor) {
  MachineShare share = share_of(machine, 1, static_cast<Size>(machine.devices.size()) * divisor);
  Device& card = share.machine.devices.front();
  const double part = 1 / static_cast<double>(divisor);
  card.memory = Bytes(card.memory.count() / divisor);
  card.bandwidth = part * card.bandwidth;
  card.host_bus = part * card.host_bus;
  for (auto* peak :
       {&card.fp32, &card.tf32, &card.fp16, &card.bf16, &card.fp8, &card.int8, &card.fp4})
    if (*peak) *peak = part * **peak;
  return share;
}

/// `target` for an engine whose times are `times` as long, in the time of one that is on time.
Target hurried(Target target, double times) {
  if (target.ttft) target.ttft = Seconds(target.ttft->value() / times);
  for (auto* tpot : {&target.tpot, &target.usual.alone, &target.usual.shared})
    if (*tpot) *tpot = Seconds((*tpot)->value() / times);
  target.think /= times;
  target.late.ttft_p95 /= times;
  target.late.tpot_p95 /= times;
  target.late.total_p99 /= times;
  return target;
}

bool worse(const ServingOption& a, const ServingOption& b) {
  return a.parts % b.parts == 0 &&
         static_cast<double>(a.parts) * a.demand >= static_cast<double>(b.parts) * b.demand;
}

/// Copies by falling size onto machines, each on the first that has room.
std::vector<Pattern> pack(Size room_of_one, std::span<const Stay> stays) {
  std::vector<std::size_t> order(stays.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return stays[a].way.parts > stays[b].way.parts; });
  struct Used {
    std::vector<Size> copies;
    Size room;
  };
  std::vector<Used> machines;
  for (const std::size_t stay : order) {
    const Size parts = stays[stay].way.parts;
    std::size_t at = 0;
    for (Size left = stays[stay].copies; left > 0;) {
      if (at == machines.size()) machines.push_back({std::vector<Size>(stays.size()), room_of_one});
      const Size here = std::min(left, machines[at].room / parts);
      machines[at].copies[stay] += here;
      machines[at].room -= here * parts;
      left -= here;
      ++at;
    }
  }
  std::vector<Pattern> patterns;
  for (Used& each : machines) {
    if (patterns.empty() || patterns.back().copies != each.copies)
      patterns.push_back({std::move(each.copies), 0});
    ++patterns.back().machines;
  }
  return patterns;
}

/// For any two sizes, one divides the other.
bool divisible(std::span<const Stay> stays) {
  return std::ranges::all_of(stays, [&](const Stay& a) {
    return std::ranges::all_of(stays, [&](const Stay& b) {
      return a.way.parts % b.way.parts == 0 || b.way.parts % a.way.parts == 0;
    });
  });
}

}  // namespace

Size ServingOption::copies(double scale) const {
  const double needed = std::ceil(scale * demand - 1e-9);
  return needed > 1 ? static_cast<Size>(std::min(needed, static_cast<double>(max_copies))) : 1;
}

ServingOptions serving_options(const Machine& machine, const Load& load, bool share_cards,
                               double times, double memory, const ServingOptions* on_cards) {
  std::vector<MachineShare> parts = shares(load.request, machine, load.target);
  if (share_cards && machine.has_one_kind() && !machine.devices.empty())
    for (Size divisor = 2; divisor <= parts_of_a_card; divisor *= 2)
      parts.push_back(part_of_a_card(machine, divisor));

  ServingOptions result;
  result.missed = {Miss::refused, std::numeric_limits<double>::infinity()};
  if (on_cards != nullptr) result = *on_cards;
  const auto add = [&](const MachineShare& share, const Target& target) {
    ServingOption way;
    way.scenario = load.request;
    way.serving = serve_on(way.scenario, share, target, Vary::batch);
    if (way.serving.replicas == 0) {
      if (way.serving.next.times < result.missed.times) result.missed = way.serving.next;
      return;
    }
    const auto cards = static_cast<Size>(machine.devices.size());
    way.parts = std::max<Size>(cards, 1) * parts_of_a_card / share.replicas;
    way.serving.replicas = share.attention;
    way.scenario.batch = way.serving.batch;
    way.serving.requests_s_each /= times;
    way.demand = copies_needed(way.serving, way.scenario, load.target) /
                 static_cast<double>(share.attention);
    if (times == 1 && memory == 1) way.share = std::make_shared<const MachineShare>(share);
    result.all.push_back(way);
  };
  Target target = hurried(load.target, times);
  for (MachineShare& share : parts) {
    for (Device& card : share.machine.devices)
      card.memory =
          Bytes(static_cast<std::int64_t>(static_cast<double>(card.memory.count()) / memory));
    // The largest batch with weights outside the cards may well do less than the largest without.
    if (on_cards == nullptr) {
      target.offload = false;
      add(share, target);
    }
    target.offload = load.target.offload;
    if (target.offload) add(share, target);
  }
  std::vector<ServingOption> kept;
  for (std::size_t i = 0; i < result.all.size(); ++i) {
    const bool beaten = std::ranges::any_of(
        std::views::iota(std::size_t{0}, result.all.size()), [&](std::size_t j) {
          return i != j && worse(result.all[i], result.all[j]) &&
                 (j < i || !worse(result.all[j], result.all[i]));
        });
    (beaten ? result.beaten : kept).push_back(result.all[i]);
  }
  result.all = std::move(kept);
  return result;
}

Fleet smallest_fleet(Size cards, std::span<const std::vector<ServingOption>> ways, double scale) {
  const Size room_of_one = std::max<Size>(cards, 1) * parts_of_a_card;
  std::optional<Fleet> best;
  std::vector<std::size_t> choice(ways.size(), 0);
  Size undecided = std::numeric_limits<Size>::max();  // lower bound of an unproven packing
  while (true) {
    Fleet fleet;
    Size used = 0;
    for (std::size_t i = 0; i < ways.size(); ++i) {
      const ServingOption& way = ways[i][choice[i]];
      fleet.stays.push_back({i, way, way.copies(scale), way.copies(scale), {}});
      used += fleet.stays.back().copies * way.parts;
    }
    const Size bound = divided_up(used, room_of_one);
    if (!best || bound <= best->machines) {
      fleet.patterns = pack(room_of_one, fleet.stays);
      for (const Pattern& each : fleet.patterns) fleet.machines += each.machines;
      fleet.free_parts = fleet.machines * room_of_one - used;
      if (fleet.machines > bound && !divisible(fleet.stays)) undecided = std::min(undecided, bound);
      const auto key = [](const Fleet& f) { return std::tuple(f.machines, -f.free_parts); };
      if (!best || key(fleet) < key(*best)) best = std::move(fleet);
    }
    std::size_t digit = 0;
    while (digit < choice.size() && ++choice[digit] == ways[digit].size()) choice[digit++] = 0;
    if (digit == choice.size()) break;
  }
  best->proven = best->machines <= undecided;
  return *best;
}

void use_free_parts(Fleet& fleet, Size cards, std::span<const Load* const> loads) {
  std::vector<Stay>& stays = fleet.stays;
  const auto fraction = [&](const Stay& stay) {
    return stay.way.demand / static_cast<double>(stay.running);
  };
  for (Pattern& pattern : fleet.patterns) {
    Size room = std::max<Size>(cards, 1) * parts_of_a_card;
    for (std::size_t i = 0; i < stays.size(); ++i) room -= pattern.copies[i] * stays[i].way.parts;
    while (true) {
      Stay* next = nullptr;
      for (Stay& stay : stays)
        if (stay.way.parts <= room && (next == nullptr || fraction(stay) > fraction(*next)))
          next = &stay;
      if (next == nullptr) break;
      room -= next->way.parts;
      next->running += pattern.machines;
      ++pattern.copies[static_cast<std::size_t>(next - stays.data())];
    }
  }
  for (std::size_t i = 0; i < stays.size(); ++i) {
    const ServingOption& way = stays[i].way;
    stays[i].at_load = at_demand_on(on(way.scenario, *way.share), way.serving, loads[i]->target,
                                    stays[i].running * way.serving.replicas);
  }
}

}  // namespace headroom::model
