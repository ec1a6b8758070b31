// Copies and machines that a demand takes, and requests in flight at each of them.
#pragma once

#include "model/infer/serving.hpp"

namespace headroom::model {

/// Replaces `worst` where `found` exceeds its limit by more.
void take_worse(Shortfall& worst, Miss miss, double found, double limit);

/// The worst that the slowest of `copy.batch` requests miss, which are always there.
Shortfall too_late(const Scenario& copy, const Service& seen, const Target& target);

/// Sets what one copy of `serving` may be given, and what more would miss. Nothing is served where
/// even the slowest of few requests are too slow.
void give(Serving& serving, const Scenario& copy, const Target& target);

/// `copy`, started for the batch and context of `chosen`, with what give() sets.
Serving started(Serving copy, const Scenario& chosen, const Target& target);

/// `most` or a copy with fewer slots, whichever may be given more. Fewer slots make tokens faster
/// while others wait longer. With weights outside the cards they can also do more. Tried are the
/// half, its half and so on, and the last number whose tokens are in time with every slot at work.
Serving best_slots(const Serving& copy, Scenario scenario, const Serving& most,
                   const Target& target);

/// Requests a second that one copy may be given within the limits of `copy`, with at most `slots`
/// at once; 0: none. `capacity`: requests a second with every slot at work.
double sustained_requests(const Scenario& copy, Size slots, double capacity);

/// Requests a second that `target` may count on from one copy: at the high end of the interval of
/// times where it is strict.
double counted_on(const Service& service, const Target& target);

/// One of several copies at the target's demand.
struct AtDemand {
  Size requests = 0;  ///< at once in one copy, a whole number; 0: no demand was stated
  Service service;    ///< as the mean request has it
  /// Set where requests arrive at random, or the slowest have limits. Without any demand it has as
  /// many people as the batch. Its times are at the high ends of intervals for a strict target.
  std::optional<InFlight> slowest;
  double requests_s = 0;  ///< rate of all copies together
};
/// `copy`: the scenario of one copy on its share of a machine.
AtDemand at_demand_on(const Scenario& copy, const Serving& serving, const Target& target,
                      Size copies);
/// As above, for `serving` that was found for `scenario` on a whole machine.
AtDemand at_demand(const Scenario& scenario, const Serving& serving, const Target& target,
                   Size copies);

/// Copies that the target's demand takes, a fraction included, 0 where it has none:
///
///   max(users / users_each, requests_s / requests_s_each,
///       output_tokens_s / (requests_s_each * output tokens))
double copies_needed(const Serving& serving, const Scenario& scenario, const Target& target);
/// Machines like this one for those copies, at least 1; 0 where nothing is served.
Size machines_needed(const Serving& serving, const Scenario& scenario, const Target& target);

}  // namespace headroom::model
