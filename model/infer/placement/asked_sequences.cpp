#include "model/infer/placement/asked_sequences.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>

#include "model/infer/memory/rounding.hpp"
#include "model/infer/memory/start_pass.hpp"
#include "model/infer/placement/active_sequences.hpp"
#include "model/infer/placement/cache_room.hpp"
#include "model/infer/placement/setup.hpp"
#include "model/infer/placement/split.hpp"

namespace headroom::model {
namespace {

/// Bytes of a card, with a block of states for each sequence.
Bytes needed_on(const Uses& uses, const Plan& plan, Size card) {
  const CardUse& use = uses.card(plan, card);
  return use.total() + std::max(Bytes(0), pages_of_states(uses, card) - use.kv_cache);
}

/// Part of the batch that a smaller number is for.
enum class Runs : std::uint8_t { all, some };

/// False if a smaller number cannot free what the cards of the division are short of at `factor`.
/// It frees at most the working memory, graphs and states of a card, and the caches of sequences
/// that wait.
bool may_free_enough(const Uses& uses, double factor, Runs runs) {
  const Plan& plan = uses.setup().division();
  const Bytes lacking = plan.feasible() ? short_on_cards(uses, factor) : Bytes(0);
  if (lacking <= Bytes(0)) return false;
  for (Size card = 0; card < plan.cards; card += plan.shards) {
    const CardUse use = uses.card(plan, card);
    const Bytes waiting = runs == Runs::some ? use.kv_cache : Bytes(0);
    const Bytes work = rounded_up(factor * use.activations.real().value());
    if (needed_on(uses, plan, card) - use.total() + work + waiting >= lacking) return true;
  }
  return false;
}

/// As start_sequences().
Size usual_start(const Uses& uses) {
  return start_sequences(uses.scenario(), uses.setup().token().start);
}

Scenario asking_for(const Scenario& s, Size sequences) {
  Scenario asked = s;
  asked.max_sequences = sequences;
  return asked;
}

bool holds(const Uses& uses, Size sequences, double factor) {
  const Scenario asked = asking_for(uses.scenario(), sequences);
  return holds_division(Uses(asked, uses.setup()), factor);
}

/// n with 2^n the least power of two of at least `number`.
Size doublings(Size number) {
  return static_cast<Size>(std::bit_width(static_cast<std::uint64_t>(number - 1)));
}

/// The largest candidate with which the whole batch fits; 0: none, or it fits with the usual one.
Size largest_that_holds(const Uses& uses, double factor) {
  const Scenario& s = uses.scenario();
  if (s.batch >= usual_start(uses) || !may_free_enough(uses, factor, Runs::all)) return 0;
  // 2^power sequences; `least` stands for the batch itself, `none` for no number.
  const Size least = doublings(s.batch) - 1, none = least - 1, end = doublings(usual_start(uses));
  const auto number = [&](Size power) { return power == least ? s.batch : Size{1} << power; };
  Size& last = uses.setup().nearest_number[factor > 1 ? 1 : 0];
  const Size power =
      largest_near(last, none, end, [&](Size each) { return holds(uses, number(each), factor); });
  last = std::max<Size>(power, -1);
  return power == none ? 0 : number(power);
}

/// Sequences of the batch that run with so many asked for; 0: it does not start.
Size admitted_with(const Uses& uses, Size number) {
  const Scenario asked = asking_for(uses.scenario(), number);
  const Uses of(asked, uses.setup());
  const Plan plan = place(of, 1.0);
  if (const auto fewer = max_admitted(of, plan, 1.0)) return fewer->batch;
  return plan.feasible() ? asked.batch : 0;
}

/// The fewest sequences that a smaller number must let run. Requests with less than their context
/// take pages for what they have, so more of them run than the pool has contexts for.
Size least_running(const Scenario& s) {
  return s.prompt_tokens + s.output_tokens < s.cached_tokens() ? s.batch : 1;
}

/// The power of two, at least `least`, with which more than `admitted` sequences run, and the most;
/// 0: with none. The least one that could is tried first. If it has no room for one sequence more,
/// no larger one has.
Size most_admitting(const Uses& uses, Size admitted, Size least) {
  const Scenario& s = uses.scenario();
  Size best = 0;
  while (true) {
    const Size number = Size{1} << doublings(std::max(admitted + 1, least));
    if (number >= usual_start(uses)) return best;
    Scenario more = asking_for(s, number);
    more.batch = admitted + 1;
    if (!holds_division(Uses(more, uses.setup()), 1.0)) return best;
    admitted = std::max(admitted + 1, admitted_with(uses, number));
    best = number;
  }
}

std::optional<Scenario> if_any(const Scenario& s, Size asked) {
  std::optional<Scenario> fewer;
  if (asked > 0) fewer.emplace(s).max_sequences = asked;
  return fewer;
}

}  // namespace

bool leaves_sequences_open(const Scenario& s) {
  return s.max_sequences == 0 && s.may_ask_for_fewer && has_start_pass(s) &&
         s.runtime->parallel.split == Split::tensors;
}

bool usual_number_surely_fits(const Uses& uses) {
  return holds_division(uses, uses.scenario().runtime->memory.interval.high);
}

std::optional<Scenario> with_fewer_sequences(const Uses& uses, const Plan& plan) {
  const Scenario& s = uses.scenario();
  const double high = s.runtime->memory.interval.high;
  if (!plan.feasible() && plan.reason != Reason::gpu_memory) return std::nullopt;
  const Size most = plan.feasible() ? 0 : largest_that_holds(uses, 1.0);
  if (most == 0 && !plan.feasible()) return std::nullopt;
  const Size surely = largest_that_holds(uses, high);
  return if_any(s, surely > 0 ? surely : most);
}

bool starts_only_with_fewer(const Uses& uses, const Plan& plan, double factor) {
  if (!leaves_sequences_open(uses.scenario()) || plan.reason != Reason::gpu_memory ||
      !may_free_enough(uses, factor, Runs::some))
    return false;
  Scenario one = uses.scenario();
  one.batch = 1;
  const Uses alone(one, uses.setup());
  return may_free_enough(alone, factor, Runs::all) && holds(alone, 1, factor);
}

std::optional<Scenario> admitting_more(const Uses& uses, Size admitted) {
  return if_any(uses.scenario(), most_admitting(uses, admitted, least_running(uses.scenario())));
}

std::optional<Scenario> fewer_where_short(const Uses& uses, const Plan& plan) {
  const Scenario& s = uses.scenario();
  if (!leaves_sequences_open(s) || plan.reason != Reason::gpu_memory) return std::nullopt;
  Size asked = 0;
  if (s.batch > 1 && may_free_enough(uses, 1.0, Runs::some)) {
    asked = most_admitting(uses, 0, least_running(s));
    if (asked == 0) asked = most_admitting(uses, 0, 1);
  }
  return if_any(s, asked > 0 ? asked : s.batch < usual_start(uses) ? s.batch : 0);
}

Scenario as_started(const Scenario& s, const Setup& setup) {
  if (!leaves_sequences_open(s)) return s;
  const Uses uses(s, setup);
  const Plan plan = place(uses, 1.0);
  if (plan.feasible() && usual_number_surely_fits(uses)) return s;
  if (auto fewer = with_fewer_sequences(uses, plan)) return *fewer;
  if (plan.feasible()) return s;
  if (const auto usual = max_admitted(uses, plan, 1.0))
    return admitting_more(uses, usual->batch).value_or(s);
  return fewer_where_short(uses, plan).value_or(s);
}

Scenario as_started(const Scenario& s) {
  return leaves_sequences_open(s) ? as_started(s, Setup(s)) : s;
}

Size sequences_to_ask_for(const Scenario& s) {
  if (const Size asked = as_started(s).max_sequences; asked > 0) return asked;
  const Size usual = usual_sequences(s);
  return usual > 0 && s.batch > usual ? s.batch : 0;
}

std::optional<FewerSequences> fewer_sequences(const Scenario& s) {
  const Scenario started = as_started(s);
  if (!leaves_sequences_open(s) || started.max_sequences == 0) return std::nullopt;
  const Uses with_usual(s), with_fewer(started);
  const Plan plan = place(with_usual, 1.0);
  const auto usual = max_admitted(with_usual, plan, 1.0);
  Bytes needed, left;
  for (Size card = 0; card < plan.cards; card += plan.shards) {
    needed = std::max(needed, needed_on(with_usual, plan, card));
    left = std::max(left, needed_on(with_fewer, plan, card));
  }
  return FewerSequences{started.max_sequences, start_sequences(s), needed - left,
                        plan.feasible() ? s.batch
                        : usual         ? usual->batch
                                        : 0};
}

}  // namespace headroom::model
