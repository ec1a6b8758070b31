// Requests that arrive at random at one copy of a model: how many are in flight, and how long the
// slowest take.
#pragma once

#include <optional>
#include <vector>

#include "model/infer/flight_states.hpp"
#include "model/infer/lateness.hpp"
#include "model/infer/pace.hpp"

namespace headroom::model {

/// Requests that come to one copy: at a rate whatever is in flight, or from people who each wait
/// for their answer.
struct Arrivals {
  double requests_s = 0;  ///< 0: they come from people
  /// Shape of the gamma distribution of gaps between requests: 1 is a Poisson process, below 1
  /// requests come in bursts. The squared coefficient of variation of a gap is 1 / burstiness.
  double burstiness = 1;
  double users = 0;  ///< people, each with one request at a time
  double think = 0;  ///< seconds that each of them pauses in the mean before the next request
};

/// A copy in its steady state. Times are of requests, as load generators report them: tpot is the
/// mean over one request's tokens. Infinite where requests come faster than they are served.
struct InFlight {
  double requests_s = 0;      ///< rate of arrivals, and of answers
  double load = 0;            ///< share of the rate with every slot at work; 1: overloaded
  double requests = 0;        ///< in the engine or waiting for it, in the mean
  Seconds ttft, tpot, total;  ///< means
  Seconds ttft_p95, tpot_p95, total_p99;
};

/// One copy with room for `slots` requests at once.
///
/// The number in flight is a birth-death process. While n are in flight, of `requests_s` arrivals a
/// second, each advances as in a steady state of n (model/infer/pace.hpp):
///
///   total(n)  = request + prompt + wait + step + (output - 1) * tpot(n)
///   tpot(n)   = step + (n - 1) * delay / (output - 1): who is there came during a request's stay
///   deaths(n) = n / total(n), at most n = slots: the rest waits in order of arrival
///
/// Exact for Poisson arrivals and requests that share the copy equally, whatever their lengths
/// (Kelly, Reversibility and Stochastic Networks, 1979).
///
/// wait: prompts stand in line, an M/G/1 queue (Pollaczek and Khinchine). Each takes s seconds:
/// delay + step * prompt / chunk. c^2: squared coefficient of variation of prompts.
///
///   load = requests_s * s,  wait = s * load * (1 + c^2) / (2 * (1 - load))
///
/// A share `load` of the prompts waits, exponentially long. Bursts bring m more requests with one
/// than usual: within t seconds of gaps whose shape is k = burstiness below 1,
///
///   m(t) = (requests_s * k * t)^k / Gamma(1 + k), at most (1 / k - 1) / 2
///
/// (the renewal function of gamma gaps: Cox, Renewal Theory, 1962). wait grows by s * m / (1 -
/// load), and a share 1 - (1 - load) / (1 + m) waits (M^X/G/1: Burke, Operations Research 23,
/// 1975). A request finds m(total) more than there are at any time. Numbers in flight spread by the
/// peakedness of the traffic, 1 + 2 m(total) / (1 + c^2), c^2 of a request's time (Eckberg, 10th
/// Teletraffic Congress, 1983; Fredericks, Bell System Technical Journal 59, 1980). The wait for a
/// slot spreads by (1 / burstiness + c^2) / 2 (Kingman, 1961).
///
/// People who think make (users - n) / think births a second, and one of them finds what the others
/// make (Lavenberg and Reiser, Journal of Applied Probability 17, 1980).
///
/// People who do not pause come in step with each other. Their prompts wait for a share of the
/// others, as in model/infer/traffic.hpp, each exponentially long.
///
/// Left out: preempted requests, and routing by load: each copy has its random share of requests.
/// tests/model/infer/queue_test.cpp compares with a simulation of every pass. Up to a load of 0.8
/// half of the percentiles are within 13 %. The slowest requests can take twice as long where
/// prompts take most of the time.
class Queue {
 public:
  /// Lengths are the scenario's, with their 95th percentiles where it has them. An engine that does
  /// not batch continuously serves one at a time. `first` and `step` multiply times: the ends of
  /// their intervals.
  Queue(const Scenario& scenario, Size slots, double first = 1, double step = 1);

  /// Requests a second with every slot at work.
  double capacity();
  /// Times of all requests, while this lives; nothing where they come faster than they are served.
  std::optional<Lateness> lateness(const Arrivals& arrivals);
  InFlight at(const Arrivals& arrivals);
  /// Requests a second that `users` with pauses make.
  double rate_of(double users, double think);
  bool meets(const LateLimits& limits, const Arrivals& arrivals);
  /// The highest rate with `limits` met, at most `cap`; 0: none.
  double most_requests(const LateLimits& limits, double cap, double burstiness);
  /// The most people with `limits` met who ask at most `cap` times a second, at most `most`; 0: not
  /// one.
  Size most_users(const LateLimits& limits, double cap, double think, Size most);

 private:
  /// Seconds of Pace, at a whole number of requests. `line`: of a prompt in line.
  struct Passes {
    double first = 0, step = 0, delay = 0, another = 0, line = 0, waits = 0;
  };
  /// Arrivals, and what follows from them.
  struct Stream {
    double requests_s = 0;
    double gaps = 1;                  ///< squared coefficient of variation
    double ahead = LateLimits::none;  ///< prompts ahead at most
    double line = 1;                  ///< spread of the wait for a slot
    double mates_in_flight = 0;       ///< within a request's stay
    bool in_step = false;             ///< requests follow each other, and wait as Pace::waits says
    /// Requests that come together with another within so many seconds, more than usual.
    double mates(double seconds) const;
  };

  double slots() const { return static_cast<double>(numbers_.back()); }
  Passes of_pace(const Pace& pace) const;
  const Passes& measured(std::size_t index);
  Passes interpolated(double number);
  Passes passes(double number);
  Crowd crowd(double number, const Stream& stream);
  double deaths(double number, const Stream& stream);
  double variation(const Stream& stream);
  std::vector<FlightState> of_rate(Stream& stream);
  std::vector<FlightState> of_users(const Arrivals& arrivals, const Stream& stream);
  Lateness found(const std::vector<FlightState>& states, const Stream& stream);

  Block block_;
  Scenario scenario_;
  Lengths prompts_, outputs_;
  bool continuous_ = true;
  /// The division of matrices, if it holds all slots. It does not depend on their number.
  std::optional<Plan> division_;
  double first_, step_, output_tokens_ = 1, prompt_spread_ = 0;
  std::vector<Size> numbers_;  ///< at which passes are measured; the last is `slots`
  std::vector<std::optional<Passes>> measured_;
  std::vector<Passes> whole_;  ///< passes of whole numbers that were asked for
  std::vector<LengthShare> lengths_;
};

}  // namespace headroom::model
