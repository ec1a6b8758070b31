// Capacity of a machine under a target: copies of the model, cards of each, and batch or context.
// Exact: the largest number that meets the target is found, not guessed.
#pragma once

#include <algorithm>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "model/infer/estimate.hpp"
#include "model/infer/queue.hpp"
#include "model/infer/service.hpp"
#include "model/infer/usable_speed.hpp"

namespace headroom::model {

/// The largest share of its capacity that a copy is planned for, where requests arrive at random.
/// Above it waiting times run away. Source: a common rule of capacity planning (Gunther, Guerrilla
/// Capacity Planning, 2007).
inline constexpr double usual_load_factor = 0.8;

inline constexpr Size max_sequences = Size{1} << 16;  ///< tried by a search

/// The longest times per output token where a demand states none: of one sequence alone, and of
/// each where several share a copy.
struct UsualTpot {
  std::optional<Seconds> alone, shared;
};
/// One person waits for usable_tokens_s; several share a copy as long as each can read along.
inline constexpr UsualTpot usual_tpot{Seconds(1 / usable_tokens_s), Seconds(1 / reading_tokens_s)};

/// Targets for every request, and for all machines together.
struct Target {
  std::optional<Seconds> ttft, tpot;           ///< at most, of the mean request
  UsualTpot usual;                             ///< without `tpot` and limits on the slowest
  LateLimits late;                             ///< at most, of the slowest requests
  Size users = 0;                              ///< concurrent sequences, at least
  double requests_s = 0, output_tokens_s = 0;  ///< at least
  double think = 0;       ///< seconds that each user pauses between an answer and the next request
  double burstiness = 1;  ///< shape of arrivals at a rate (Arrivals)
  double load_factor = usual_load_factor;  ///< most load of copies whose requests arrive at random
  bool offload = false;  ///< weights outside the cards count as served (always, without cards)
  bool attention_replicas = false;      ///< copies may have them (MachineShare::attention)
  Size most_sequences = max_sequences;  ///< one copy takes no more
  /// The longest context is of as many sequences as the demand takes; false: of the scenario's.
  bool any_batch = false;
  bool strict = false;  ///< by the pessimistic end of every interval: a sure fit, the high times

  /// Requests come at a rate, or from users who pause; else a fixed number is always there.
  bool at_random() const { return requests_s > 0 || output_tokens_s > 0 || think > 0; }
  /// True if the usual limits on decoding hold: none of the target's own does.
  bool has_usual_tpot() const;
  /// The limit on `tpot` for a copy with `batch` sequences.
  std::optional<Seconds> tpot_limit(Size batch) const;
};

/// Target that a scenario misses, and by which factor: 1.25 is a quarter too slow or too large.
enum class Miss {
  nothing,
  refused,
  memory,
  not_sure,  ///< it fits, but not at the high end of its interval
  offload,
  ttft,
  tpot,
  ttft_p95,
  tpot_p95,
  total_p99,
  load,  ///< a copy is as busy as the target's load factor allows
  positions,
  sequences,  ///< the engine starts with no more
  demand
};
std::string_view name_of(Miss miss);
struct Shortfall {
  Miss miss = Miss::nothing;
  double times = 1;
  bool met() const { return miss == Miss::nothing; }
  /// True if it runs as it is allowed to, but not as fast or as much as asked.
  bool runs() const;
};
/// True if `a` is closer to the target: it runs and `b` has no room, or its factor is less.
bool is_closer(const Shortfall& a, const Shortfall& b);

/// The worst that one copy misses of `target.ttft`, `target.tpot` and the memory, by what requests
/// see of it (model/infer/service.hpp). Demand is not asked. A context beyond the model's positions
/// is a miss whatever the runtime allows.
Shortfall shortfall(const Scenario& scenario, const Estimate& estimate, const Target& target);

/// The largest n from 1 to `most` for which `holds(n)`, 0 where it does not hold for 1. `holds`
/// must not turn true again once it has turned false. Asks about 2 log2(n) times.
template <class F>
Size largest(Size most, F&& holds) {
  if (most < 1 || !holds(Size{1})) return 0;
  Size good = 1, bad = most + 1;
  while (good < most && bad > most) {
    const Size next = good > most / 2 ? most : 2 * good;
    if (holds(next))
      good = next;
    else
      bad = next;
  }
  while (good + 1 < bad) {
    const Size middle = good + (bad - good) / 2;
    (holds(middle) ? good : bad) = middle;
  }
  return good;
}

/// One copy's share of a machine that holds `replicas` equal copies: its cards; RAM, its bandwidth
/// and the cores divided; the disk whole, since copies read the same files.
struct MachineShare {
  Machine machine;
  Size replicas = 1;
  /// Replicas of a copy's attention, each with the cache of its own requests. They share experts,
  /// which are spread over all cards of the copy. 1: no division of this kind.
  Size attention = 1;
};
/// The ways to divide `machine` into equal shares. Machines with cards of one kind are divided by
/// each divisor of the number of cards. Other machines stay whole.
std::vector<MachineShare> shares(const Machine& machine);
/// The first `cards` cards with one of `replicas` equal parts of the host.
MachineShare share_of(const Machine& machine, Size cards, Size replicas);

/// True if replicas of the attention may serve more: tensor parallelism copies MLA's cache of
/// latents to every card, and the engine's replicas share experts. Source: docs.vllm.ai,
/// serving/data_parallel_deployment; docs.sglang.io, advanced_features/dp_dpa_smg_guide.
bool may_replicate_attention(const Scenario& scenario);

/// The ways to give copies on `share` replicas of their attention, each within a box.
std::vector<MachineShare> with_attention_replicas(const MachineShare& share);

/// shares() and, where `target` allows it and they may serve more, each of them with replicas of
/// the attention.
std::vector<MachineShare> shares(const Scenario& scenario, const Machine& machine,
                                 const Target& target);

/// `scenario` for one copy on its share, with tensor parallelism over the share's cards where the
/// engine splits that way. With replicas of the attention the batch is of each.
/// `share` outlives it.
Scenario on(Scenario scenario, const MachineShare& share);

/// One way to serve: `replicas` copies with `batch` sequences and `context` tokens each.
struct Serving {
  /// Cards of a copy, and copies. With `attention` they are of its replicas. `replicas` is 0 where
  /// not even one sequence meets the target.
  Size cards = 0, replicas = 0;
  Size attention = 1;  ///< as MachineShare has it
  Size batch = 0, context = 0;
  Estimate estimate;  ///< estimate of one copy
  Service service;    ///< service that requests of one copy see
  Shortfall next;     ///< memory that one more sequence (or token of context) would lack; if
                      ///< nothing is served, memory that one sequence lacks
  /// People, or requests a second, that one copy may be given. The batch, and the target's share of
  /// what it can do, or less where the slowest requests would be too slow.
  Size users_each = 0;
  double requests_s_each = 0;
  Size cards_of_copy() const { return cards * attention; }
  Size copies() const { return replicas / attention; }
  Size batch_of_copy() const { return batch * attention; }
  double users() const { return static_cast<double>(replicas * users_each); }
};

/// The share of one copy of `serving`, found for `machine`.
MachineShare share_of(const Machine& machine, const Serving& serving);

enum class Vary { batch, context };

/// The one of `all` that serves many users well; `users` is 0 where none is served. One does not
/// count if another has at least half of its users at twice its rate or more. The others with at
/// least 95 % of the most users go by `score`; the first of equals is taken.
template <class Range, class Users, class Rate, class Score>
auto fastest_of_most(Range& all, Users users, Rate rate, Score score) {
  const auto counts = [&](const auto& each) {
    return users(each) > 0 && std::ranges::none_of(all, [&](const auto& other) {
             return users(other) > 0 && 2 * users(other) >= users(each) &&
                    rate(other) >= 2 * rate(each);
           });
  };
  constexpr double nearly = 0.95;
  double most = 0;
  for (const auto& each : all)
    if (counts(each)) most = std::max(most, users(each));
  return std::ranges::max_element(all, {}, [&](const auto& each) {
    return counts(each) && users(each) >= nearly * most ? score(each)
                                                        : -std::numeric_limits<double>::infinity();
  });
}
/// As above, by the rate.
template <class Range, class Users, class Rate>
auto fastest_of_most(Range& all, Users users, Rate rate) {
  return fastest_of_most(all, users, rate, rate);
}

/// The longest context, prompt and output together, at which the scenario is still on cards. If it
/// is not on cards now, it is the longest that runs at all. The output stays, the prompt fills the
/// rest; at most the model's positions. 0 where it does not run.
Size longest_context(const Scenario& scenario);

/// The best way to serve on `scenario.machine`: the largest batch (most users of all copies
/// together), or the longest context at the scenario's batch or at Target::any_batch. Divisions go
/// by fastest_of_most(), those with replicas of the attention too if the target allows. Ties: fewer
/// copies. Limits: the target's sequences, 2^24 tokens and the
/// model's positions. Exact: with offload and a limit on times, which may fall again where a
/// runtime changes from streaming to the CPU, every number is tried. Tensor parallelism is over all
/// cards of a share where the runtime splits that way.
Serving serve(const Scenario& scenario, const Target& target, Vary vary);

/// The best of each way to divide the machine; at least one. Equal copies that leave some cards
/// without work join. They are of any number of cards on a machine with up to 8, of powers of two
/// on others.
std::vector<Serving> every_division(const Scenario& scenario, const Target& target, Vary vary);
/// The one that serve() takes of them.
const Serving& best_division(const std::vector<Serving>& divisions, Vary vary);

/// The largest number on one share, whose copies are equal. Unless `every` number is tried, the
/// result with offload meets the target and the next does not, but a larger one may.
Serving serve_on(const Scenario& scenario, const MachineShare& share, const Target& target,
                 Vary vary, bool every = false);

/// Service of one copy of `serving`, found for `scenario`, with `batch` sequences instead; at most
/// serving.batch.
Service service_at(const Scenario& scenario, const Serving& serving, Size batch);

/// The most requests a second of one copy with at most `serving.batch` sequences. More of them can
/// be slower together, where weights leave the cards.
double capacity(const Scenario& scenario, const Serving& serving);

}  // namespace headroom::model
