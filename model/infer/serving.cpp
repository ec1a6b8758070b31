#include "model/infer/serving.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "model/infer/demand.hpp"
#include "model/infer/estimate.hpp"
#include "model/infer/evaluator.hpp"
#include "model/infer/intervals.hpp"
#include "model/infer/placement/placement.hpp"
#include "model/infer/scenario/usual_context.hpp"
#include "model/infer/scenario/verdict.hpp"

namespace headroom::model {
namespace {

constexpr Size max_context = Size{1} << 24;

Size longest(const Scenario& s) {
  const Size positions = s.weights->model->shape.positions;
  return positions > 0 ? std::min(positions, max_context) : max_context;
}

/// `s` with `n` sequences, or `n` tokens of context: a context below prompt and output shortens the
/// prompt.
Scenario with(Scenario s, Vary vary, Size n) {
  if (vary == Vary::batch) {
    set_batch(s, n);
  } else {
    s.context = n;
    s.prompt_tokens = std::max<Size>(1, n - s.output_tokens);
  }
  return s;
}

/// Bytes on all cards. A way on the CPU alone takes nothing of them, though they are there.
double room_on_cards(Scenario s) {
  if (s.gpu_budget == Bytes(0)) s.gpu_budget = unlimited;
  double bytes = 0;
  for (std::size_t i = 0; i < s.machine->devices.size(); ++i)
    bytes += card_budget(s, i).real().value();
  return bytes;
}

Shortfall worse(const Shortfall& a, const Shortfall& b) {
  return b.met() || (!a.met() && a.times >= b.times) ? a : b;
}

/// The worst that the times of `s` miss, whose requests are always there.
Shortfall lateness(const Scenario& s, const Estimate& e, const Target& target) {
  const bool all_late = target.late.any() && !target.at_random();
  const auto tpot = target.tpot_limit(s.batch);
  if (!target.ttft && !tpot && !all_late) return {};
  const Service seen = service_of(s, e);
  Shortfall worst;
  const auto check = [&](Miss miss, Seconds found, const Interval& interval,
                         const std::optional<Seconds>& limit) {
    if (limit)
      take_worse(worst, miss, (target.strict ? interval.high : 1) * found.value(), limit->value());
  };
  check(Miss::ttft, seen.ttft, seen.first, target.ttft);
  check(Miss::tpot, seen.tpot, seen.step, tpot);
  return all_late ? worse(worst, too_late(s, seen, target)) : worst;
}

}  // namespace

bool Target::has_usual_tpot() const {
  return !tpot && late.tpot_p95 == LateLimits::none && late.total_p99 == LateLimits::none;
}

std::optional<Seconds> Target::tpot_limit(Size batch) const {
  if (!has_usual_tpot()) return tpot;
  return batch > 1 || at_random() ? usual.shared : usual.alone;
}

Shortfall shortfall(const Scenario& s, const Estimate& e, const Target& target) {
  if (e.reason == Reason::too_many_sequences)
    return {Miss::sequences,
            static_cast<double>(s.batch) / static_cast<double>(s.runtime->serving.most_sequences)};
  if (e.verdict == Verdict::refused)
    return {e.reason == Reason::context_too_long ? Miss::positions : Miss::refused,
            std::numeric_limits<double>::infinity()};
  if (!s.within_positions())
    return {Miss::positions, static_cast<double>(s.cached_tokens()) /
                                 static_cast<double>(s.weights->model->shape.positions)};
  if (!fits(e)) {
    const double all = (e.weights + e.kv_cache + e.activations + e.overhead).real().value();
    const double missing = e.short_bytes.real().value();
    return {Miss::memory, all > missing ? all / (all - missing) : 1 + missing};
  }
  if (e.queued > 0)
    return {Miss::memory, static_cast<double>(s.batch) / static_cast<double>(s.batch - e.queued)};
  if (!target.offload && !is_on_gpus(e) && !s.machine->devices.empty()) {
    const double all = (e.weights + e.kv_cache + e.activations + e.overhead).real().value();
    return {Miss::offload, std::max(1.0, all / room_on_cards(s))};
  }
  if (target.strict && e.sure != Confidence::yes) return {Miss::not_sure, 1};
  // Requests that arrive at random depend on how many come: see give().
  const Shortfall late = target.at_random() ? Shortfall{} : lateness(s, e, target);
  const bool has_company = s.batch > 1 || target.at_random();
  if (!target.strict || !has_company || !batches_continuously(s, e)) return late;
  // A copy of several often has one. Its interval may be wider, and must keep the target too.
  Scenario alone = s;
  alone.batch = 1;
  return worse(late, lateness(alone, evaluate(alone), target));
}

Size longest_context(const Scenario& scenario) {
  Evaluator evaluator;
  const Estimate now = evaluator(scenario);
  if (!fits(now)) return 0;
  return largest(longest(scenario), [&](Size n) {
    const Estimate e = evaluator(with(scenario, Vary::context, n));
    return (is_on_gpus(now) ? is_on_gpus(e) : fits(e)) && e.queued <= now.queued;
  });
}

namespace {

/// The longest context with which the copies of `share` serve a demand that comes at random.
Serving longest_at_random(const Scenario& scenario, const MachineShare& share,
                          const Target& target) {
  const auto with_context = [&](Size n) {
    const Scenario changed = with(scenario, Vary::context, n);
    if (target.any_batch) return serve_on(changed, share, target, Vary::batch);
    const Scenario s = on(changed, share);
    Serving copy;
    copy.cards = std::ssize(share.machine.devices);
    copy.next = shortfall(s, evaluate(s), target);
    copy.replicas = copy.next.met() ? share.replicas : 0;
    return copy.replicas > 0 ? started(copy, s, target) : copy;
  };
  const auto missed = [&](Size prompt) {
    const Serving each = with_context(prompt + scenario.output_tokens);
    if (each.replicas == 0) return each.next;
    const double machines =
        copies_needed(each, scenario, target) / static_cast<double>(each.replicas);
    return machines > 1 ? Shortfall{Miss::demand, machines} : Shortfall{};
  };
  const Size most = std::max<Size>(1, longest(scenario) - scenario.output_tokens);
  const Size prompt = largest(most, [&](Size each) { return missed(each).met(); });
  Serving found = with_context(std::max<Size>(1, prompt) + scenario.output_tokens);
  if (prompt == 0) found.replicas = 0;
  found.next = prompt < most ? missed(prompt + 1) : Shortfall{Miss::positions, 1};
  return found;
}

}  // namespace

Serving serve_on(const Scenario& scenario, const MachineShare& share, const Target& target,
                 Vary vary, bool every) {
  if (vary == Vary::context && target.at_random())
    return longest_at_random(scenario, share, target);
  Scenario s = on(scenario, share);
  if (vary == Vary::context && target.any_batch && target.users > 0)
    s.batch = divided_up(target.users, share.replicas);
  const auto missed = [&](Size n) {
    const Scenario changed = with(s, vary, n);
    return shortfall(changed, evaluate(changed), target);
  };
  const Size most = vary == Vary::batch ? target.most_sequences : longest(s);
  Serving result;
  result.cards = static_cast<Size>(share.machine.devices.size()) / share.attention;
  result.attention = share.attention;
  Size n = largest(most, [&](Size each) { return missed(each).met(); });
  if (every && target.offload && (target.ttft || target.tpot_limit(most))) {
    // Times may fall again where a runtime changes from streaming to the CPU; memory never does.
    const Size room = largest(most, [&](Size each) {
      const Miss miss = missed(each).miss;
      return miss != Miss::memory && miss != Miss::not_sure && miss != Miss::refused &&
             miss != Miss::positions && miss != Miss::sequences;
    });
    Size better = room;
    while (better > n && !missed(better).met()) --better;
    n = std::max(n, better);
  }
  result.next =
      n < most ? missed(n + 1) : Shortfall{vary == Vary::batch ? Miss::demand : Miss::positions, 1};
  if (n == 0) return result;
  const Scenario chosen = with(s, vary, n);
  result.replicas = share.replicas * share.attention;
  const Serving found = started(result, chosen, target);
  return target.at_random() ? best_slots(result, s, found, target) : found;
}

Service service_at(const Scenario& scenario, const Serving& serving, Size batch) {
  const MachineShare share = share_of(*scenario.machine, serving);
  const Scenario s = with(on(scenario, share), Vary::batch, batch);
  return service_of(s, evaluate(s));
}

double capacity(const Scenario& scenario, const Serving& serving) {
  const auto rate = [&](Size batch) { return service_at(scenario, serving, batch).requests_s; };
  Size low = 1, high = serving.batch;
  while (high - low > 2) {  // it rises to one peak
    const Size third = (high - low) / 3;
    if (rate(low + third) < rate(high - third))
      low += third;
    else
      high -= third;
  }
  double most = rate(serving.batch);
  for (Size batch = low; batch <= high; ++batch) most = std::max(most, rate(batch));
  return most;
}

namespace {

/// Shares that leave some cards of one kind without work.
std::vector<MachineShare> shares_of_some_cards(const Machine& machine) {
  std::vector<MachineShare> all;
  const auto cards = static_cast<Size>(machine.devices.size());
  if (!machine.has_one_kind()) return all;
  constexpr Size few = 8;
  for (Size each = cards - 1; each > 1; --each)
    if (cards % each != 0 &&
        (cards <= few || std::has_single_bit(static_cast<std::uint64_t>(each))))
      all.push_back(model::share_of(machine, each, cards / each));
  return all;
}

}  // namespace

std::vector<Serving> every_division(const Scenario& scenario, const Target& target, Vary vary) {
  std::vector<Serving> all;
  Target allowed = target;
  allowed.attention_replicas = target.attention_replicas && vary == Vary::batch;
  for (const MachineShare& share : shares(scenario, *scenario.machine, allowed))
    all.push_back(serve_on(scenario, share, target, vary, true));
  for (const MachineShare& share : shares_of_some_cards(*scenario.machine))
    all.push_back(serve_on(scenario, share, target, vary, true));
  return all;
}

const Serving& best_division(const std::vector<Serving>& divisions, Vary vary) {
  const auto better = [&](const Serving& a, const Serving& b) {
    if ((a.replicas > 0) != (b.replicas > 0)) return a.replicas > 0;
    if (a.replicas == 0) return is_closer(a.next, b.next);
    return vary == Vary::batch ? a.users() > b.users() : a.context > b.context;
  };
  const Serving& most = *std::ranges::min_element(divisions, better);
  if (vary == Vary::context || most.replicas == 0) return most;
  return *fastest_of_most(
      divisions, [](const Serving& each) { return each.replicas > 0 ? each.users() : 0; },
      [](const Serving& each) {
        return static_cast<double>(each.replicas) * each.service.requests_s;
      });
}

Serving serve(const Scenario& scenario, const Target& target, Vary vary) {
  return best_division(every_division(scenario, target, vary), vary);
}

}  // namespace headroom::model
