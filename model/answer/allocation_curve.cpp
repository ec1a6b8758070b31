#include "model/answer/allocation_curve.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <stdexcept>
#include <tuple>

#include "model/infer/evaluator.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

constexpr Size max_steps = 100'000;
/// Differences below this share of the speed are rounding.
constexpr double rounding = 1e-9;

/// Everything that decides an estimate, except the budget. Concurrent sequences count by powers of
/// two, because hundreds of single steps would add no information.
using State =
    std::tuple<Reason, bool, Size, Size, Size, Where, Where, Size, int, std::vector<Size>>;

State state_at(Scenario s, Bytes budget) {
  s.gpu_budget = budget;
  s = admitted_scenario(s);
  const Plan plan = place(s, 1.0);
  if (!plan.feasible()) return {plan.reason, false, 0, 0, 0, Where::cpu, Where::cpu, 0, 0, {}};
  const auto cuts =
      plan.layer_boundaries.begin() + (plan.cards > 0 ? plan.stage_of(plan.cards - 1) + 2 : 0);
  return {plan.reason,
          plan.computes_on_card,
          plan.cards,
          plan.on_cards.size(),
          plan.on_disk.size(),
          plan.embedding,
          plan.head,
          plan.host_experts.size(),
          static_cast<int>(std::bit_width(static_cast<std::uint64_t>(s.batch))),
          {plan.layer_boundaries.begin(), cuts}};
}

/// The MiB in (low, high] at which the state changes. More memory never brings a state back, so
/// between equal states there is no other.
void add_changes(const Scenario& s, Size low, const State& at_low, Size high, const State& at_high,
                 std::vector<Bytes>& found) {
  if (at_low == at_high) return;
  if (high - low <= 1) {
    found.push_back(high * mebibyte);
    return;
  }
  const Size middle = low + (high - low) / 2;
  const State at_middle = state_at(s, middle * mebibyte);
  add_changes(s, low, at_low, middle, at_middle, found);
  add_changes(s, middle, at_middle, high, at_high, found);
}

bool reads_disk(const AllocationPoint& p) { return model::reads_disk(p.plan); }
bool all_layers(const AllocationPoint& p) {
  return p.plan.on_cpu.size() + p.plan.on_disk.size() == 0 && !p.plan.partly_on_host;
}

std::vector<Jump> jumps_between(const AllocationPoint& before, const AllocationPoint& after) {
  if (!runs(after)) return {};
  if (!runs(before)) return {Jump::runs};
  const Plan &from = before.plan, &to = after.plan;
  std::vector<Jump> found;
  const auto add = [&](bool happened, Jump jump) {
    if (happened) found.push_back(jump);
  };
  add(!from.computes_on_card && to.computes_on_card, Jump::gpu_computes);
  add(reads_disk(before) && !reads_disk(after), Jump::no_disk);
  add(!all_layers(before) && all_layers(after), Jump::last_layer);
  const auto only_experts = [](const Plan& plan) {
    return plan.partly_on_host && plan.on_cpu.size() == 0;
  };
  add(!only_experts(from) && only_experts(to), Jump::experts_on_host);
  add(from.head != Where::card && to.head == Where::card, Jump::output_on_gpus);
  const Size cards = to.cards - to.first_used_card,
             cards_before = from.cards - from.first_used_card;
  add(cards > cards_before && cards_before > 0, Jump::more_gpus);
  add(cards < cards_before, Jump::fewer_gpus);
  const double speed = after.estimate.tokens_s;
  add(found.empty() && speed < before.estimate.tokens_s * (1 - rounding), Jump::slower);
  return found;
}

}  // namespace

bool runs(const AllocationPoint& point) { return point.estimate.verdict < Verdict::does_not_fit; }

std::vector<Bytes> allocations(const Scenario& s, std::optional<Bytes> step) {
  if (s.machine->devices.empty())
    throw std::invalid_argument("the machine has no GPU: there is no memory to allocate");
  const Bytes full = largest_card_budget(s);
  std::vector<Bytes> all{Bytes(0)};
  if (step) {
    if (full.count() / step->count() >= max_steps)
      throw std::invalid_argument("more than 100,000 steps");
    for (Bytes at = *step; at < full; at += *step) all.push_back(at);
  } else if (const Size last = full.count() / mebibyte.count(); last > 0) {
    add_changes(s, 0, state_at(s, Bytes(0)), last, state_at(s, last * mebibyte), all);
  }
  if (all.back() < full) all.push_back(full);
  return all;
}

std::vector<AllocationPoint> allocation_curve(const Scenario& scenario,
                                              const std::vector<Bytes>& budgets) {
  std::vector<AllocationPoint> curve;
  std::size_t last = budgets.size();
  Evaluator evaluate;
  for (const Bytes budget : budgets) {
    Scenario s = scenario;
    s.gpu_budget = budget;
    AllocationPoint point{budget, evaluate(s), {}, {}, {}};
    if (point.estimate.verdict != Verdict::refused) point.plan = place(admitted_scenario(s), 1.0);
    if (!curve.empty()) point.jumps = jumps_between(curve.back(), point);
    if (runs(point) && last < curve.size()) {
      const double gib = real_count(budget - curve[last].allocation) / GiB;
      point.gain = (point.estimate.tokens_s - curve[last].estimate.tokens_s) / gib;
    }
    if (runs(point)) last = curve.size();
    curve.push_back(std::move(point));
  }
  return curve;
}

}  // namespace headroom::model
